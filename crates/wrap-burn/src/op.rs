//! An op is a value: its name, what it accepts, how it computes, how it differentiates.

use std::fmt::Debug;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::autocast;
use crate::autograd::{self, Tracking};
use crate::device::Device;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail, error};

/// Shapes and dtypes of an op's outputs; nearly always one.
pub type Metas = SmallVec<[Meta; 1]>;
/// An op's outputs.
pub type Values = SmallVec<[Value; 1]>;
/// Tensors an op gives back.
pub type Tensors = SmallVec<[Tensor; 1]>;
/// One gradient per input, `None` where none flows.
pub type Grads = SmallVec<[Option<Tensor>; 2]>;

/// Which tensors an op's gradient reads, as bits by position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saves {
    /// Inputs whose elements are needed.
    pub inputs: u32,
    /// Outputs whose elements are needed.
    pub outputs: u32,
}

impl Saves {
    /// Nothing: shapes and dtypes suffice.
    pub const NONE: Saves = Saves { inputs: 0, outputs: 0 };
    /// Every input.
    pub const INPUTS: Saves = Saves { inputs: u32::MAX, outputs: 0 };
    /// The first output.
    pub const OUTPUT: Saves = Saves { inputs: 0, outputs: 1 };
    /// Everything.
    pub const ALL: Saves = Saves { inputs: u32::MAX, outputs: u32::MAX };

    /// The named inputs.
    pub const fn inputs(bits: u32) -> Saves {
        Saves { inputs: bits, outputs: 0 }
    }
}

/// What a gradient rule may read. Tensors the op did not ask to save are shapes without data.
pub struct Vjp<'a> {
    /// The op's inputs.
    pub inputs: &'a [Tensor],
    /// The op's outputs.
    pub outputs: &'a [Tensor],
    /// The gradient of each output; `None` where nothing flowed.
    pub grads: &'a [Option<Tensor>],
    /// Which inputs want a gradient.
    pub needs: &'a [bool],
}

impl Vjp<'_> {
    /// The gradient of the only differentiable output.
    pub fn grad(&self) -> Result<&Tensor> {
        self.grads
            .iter()
            .flatten()
            .next()
            .ok_or_else(|| error!(Runtime, "backward: a gradient rule ran without a gradient"))
    }
}

/// An op, with its attributes as fields. Inputs are checked by [`infer`](Primitive::infer) alone:
/// the other methods may rely on it.
#[typetag::serde(tag = "op")]
pub trait Primitive: ToArc + Debug + Send + Sync {
    /// The name errors and graphs show.
    fn name(&self) -> &'static str;

    /// Checks the inputs and computes the outputs' shapes and dtypes, without data. Every error a
    /// user can make is made here.
    fn infer(&self, inputs: &[&Value]) -> Result<Metas>;

    /// Computes on the CPU.
    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values>;

    /// Computes on a GPU by burn's kernels; `None` sends the inputs through the CPU instead.
    fn run_gpu(
        &self,
        _inputs: &[&Value],
        _out: &[Meta],
        _device: Device,
    ) -> Result<Option<Values>> {
        Ok(None)
    }

    /// Computes the only output straight into `target`, the first input's own memory. `false` if
    /// this op cannot; the result is then computed apart and copied.
    fn run_into(&self, _target: &Value, _inputs: &[&Value]) -> Result<bool> {
        Ok(false)
    }

    /// Whether half floats and narrow integers are widened before `run` and narrowed after it.
    /// Ops that only move elements handle every type themselves.
    fn widens(&self) -> bool {
        true
    }

    /// What [`vjp`](Primitive::vjp) reads; `needs` says which inputs want gradients.
    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::NONE
    }

    /// Whether gradients flow through this op at all.
    fn differentiable(&self) -> bool {
        true
    }

    /// The inputs' gradients from the outputs', made of tensor ops so that it can itself be
    /// differentiated.
    fn vjp(&self, _ctx: &Vjp<'_>) -> Result<Grads> {
        bail!(Unsupported, "{}: no gradient is defined", self.name())
    }
}

/// Shares an op; every cloneable op has it.
pub trait ToArc {
    /// A shared copy.
    fn to_arc(&self) -> Arc<dyn Primitive>;
}

impl<P: Primitive + Clone + 'static> ToArc for P {
    fn to_arc(&self) -> Arc<dyn Primitive> {
        Arc::new(self.clone())
    }
}

/// Applies an op: check, compute, record. In [autocast], its inputs are converted first.
pub fn apply(op: &dyn Primitive, inputs: &[&Tensor]) -> Result<Tensors> {
    if !autocast::active() {
        return apply_as_given(op, inputs);
    }
    let converted = autocast::inputs_of(op.name(), inputs)?;
    let _inside = autocast::Paused::new();
    match converted {
        None => apply_as_given(op, inputs),
        Some(converted) => {
            apply_as_given(op, &converted.iter().collect::<SmallVec<[&Tensor; 3]>>())
        }
    }
}

fn apply_as_given(op: &dyn Primitive, inputs: &[&Tensor]) -> Result<Tensors> {
    let guards: SmallVec<[_; 3]> = inputs.iter().map(|tensor| tensor.read()).collect();
    let values: SmallVec<[&Value; 3]> = guards.iter().map(|guard| &**guard).collect();
    let device = common_device(op.name(), &values)?;
    let metas = op.infer(&values)?;
    let outputs = execute(op, &values, &metas, device)?;
    let tracking = if op.differentiable() { Tracking::of(inputs) } else { None };
    let Some(tracking) = tracking else {
        return Ok(outputs.into_iter().map(Tensor::from_value).collect());
    };
    drop(values);
    drop(guards);
    autograd::record(op.to_arc(), inputs, outputs, tracking)
}

/// Applies an op with one output.
pub fn apply1(op: &dyn Primitive, inputs: &[&Tensor]) -> Result<Tensor> {
    let mut outputs = apply(op, inputs)?;
    debug_assert_eq!(outputs.len(), 1);
    Ok(outputs.pop().expect("every op has an output"))
}

/// Computes without recording.
pub(crate) fn execute(
    op: &dyn Primitive,
    inputs: &[&Value],
    metas: &[Meta],
    device: Device,
) -> Result<Values> {
    if inputs.iter().any(|value| !value.has_data()) || device == Device::Meta {
        return Ok(metas.iter().map(|meta| Value::meta(meta.clone(), device)).collect());
    }
    for meta in metas {
        crate::ops::create::check_fits(op.name(), meta)?;
    }
    if device.is_gpu() {
        if let Some(outputs) = op.run_gpu(inputs, metas, device)? {
            return Ok(outputs);
        }
        let host: SmallVec<[Value; 3]> =
            inputs.iter().map(|value| value.to_host()).collect::<Result<_>>()?;
        let host: SmallVec<[&Value; 3]> = host.iter().collect();
        return run_widened(op, &host, metas)?
            .iter()
            .map(|value| match device.narrow(value.dtype) {
                dtype if dtype == value.dtype => value.to_device(device),
                dtype => cast_host(value, dtype)?.to_device(device),
            })
            .collect();
    }
    run_widened(op, inputs, metas)
}

fn run_widened(op: &dyn Primitive, inputs: &[&Value], metas: &[Meta]) -> Result<Values> {
    let narrow = |value: &&Value| value.dtype.widened() != value.dtype;
    if !op.widens() || !inputs.iter().any(narrow) {
        return op.run(inputs, metas);
    }
    let wide: SmallVec<[Value; 3]> = inputs
        .iter()
        .map(|value| cast_host(value, value.dtype.widened()))
        .collect::<Result<_>>()?;
    let wide: SmallVec<[&Value; 3]> = wide.iter().collect();
    let wide_metas: Metas = metas
        .iter()
        .map(|meta| Meta { shape: meta.shape.clone(), dtype: meta.dtype.widened() })
        .collect();
    op.run(&wide, &wide_metas)?
        .iter()
        .zip(metas)
        .map(|(value, meta)| cast_host(value, meta.dtype))
        .collect()
}

/// A host value converted to another dtype.
pub(crate) fn cast_host(value: &Value, dtype: DType) -> Result<Value> {
    if value.dtype == dtype {
        return Ok(value.clone());
    }
    crate::with_dtype!("cast", value.dtype, all, S => {
        let view = value.view::<S>()?;
        if dtype == DType::Bool {
            return Ok(Value::from_vec_as(kernels::cast::to_bool(view), value.shape.clone(), dtype));
        }
        crate::with_dtype!("cast", dtype, all, D => Ok(Value::from_vec_as(
            kernels::cast::cast::<S, D>(view),
            value.shape.clone(),
            dtype,
        )))
    })
}

/// The one device all inputs lie on.
pub(crate) fn common_device(op: &str, values: &[&Value]) -> Result<Device> {
    let Some(first) = values.first() else { return Ok(Device::Cpu) };
    let device = first.device();
    for value in values {
        if value.device() != device {
            bail!(
                Runtime,
                "{op}: expected all tensors to be on the same device, got {device} and {}; move \
                 one with .to(\"{device}\")",
                value.device()
            );
        }
    }
    Ok(device)
}

/// One output's metadata.
pub(crate) fn one(meta: Meta) -> Result<Metas> {
    Ok(smallvec![meta])
}

/// One output.
pub(crate) fn single(value: Value) -> Result<Values> {
    Ok(smallvec![value])
}
