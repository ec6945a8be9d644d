//! Arithmetic of two tensors, or of a tensor and a number.

pub use kernels::binary::Binary;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, one, single};
use crate::shape::{broadcast, broadcast_strides};
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// Runs the body with `$T` bound to the Rust type that stands for a dtype.
macro_rules! dispatch_binary {
    ($kind:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype.category() {
            Category::Complex => $crate::with_dtype!(binary_name($kind), $dtype, complexes, $T => $body),
            _ => $crate::with_dtype!(binary_name($kind), $dtype, reals, $T => $body),
        }
    };
}

mod gpu;
mod gradient;
mod operands;
mod scalar;

use self::gpu::{burn_binary, has_burn_kernel};
use self::gradient::partial;
pub use self::operands::{Operand, result_type};
pub(crate) use self::operands::{promoted, same_device};
pub use self::scalar::ScalarOp;

/// The name users know a function by.
pub fn binary_name(kind: Binary) -> &'static str {
    use Binary::*;
    match kind {
        Add => "add",
        Sub => "sub",
        Mul => "mul",
        Div => "div",
        FloorDiv => "floor_divide",
        TruncDiv => "div_trunc",
        Remainder => "remainder",
        Fmod => "fmod",
        Pow => "pow",
        Maximum => "maximum",
        Minimum => "minimum",
        Fmax => "fmax",
        Fmin => "fmin",
        Atan2 => "atan2",
        Hypot => "hypot",
        Copysign => "copysign",
        Nextafter => "nextafter",
        Logaddexp => "logaddexp",
        Logaddexp2 => "logaddexp2",
        Xlogy => "xlogy",
        Xlog1py => "xlog1py",
        Heaviside => "heaviside",
        BitAnd => "bitwise_and",
        BitOr => "bitwise_or",
        BitXor => "bitwise_xor",
        ShiftLeft => "bitwise_left_shift",
        ShiftRight => "bitwise_right_shift",
        Gcd => "gcd",
        Lcm => "lcm",
        Zeta => "zeta",
        Igamma => "igamma",
        Igammac => "igammac",
    }
}

/// What a function accepts, beyond real floats.
struct Accepts {
    bools: bool,
    ints: bool,
    floats: bool,
    complex: bool,
    /// Integers become the default float.
    promotes: bool,
}

fn accepts(kind: Binary) -> Accepts {
    use Binary::*;
    let base = Accepts { bools: false, ints: true, floats: true, complex: false, promotes: false };
    match kind {
        Add | Mul => Accepts { bools: true, complex: true, ..base },
        Sub => Accepts { complex: true, ..base },
        Div => Accepts { complex: true, promotes: true, ..base },
        Pow => Accepts { complex: true, ..base },
        Maximum | Minimum | Fmax | Fmin => Accepts { bools: true, ..base },
        Atan2 | Copysign | Xlogy | Xlog1py | Zeta => {
            Accepts { bools: true, promotes: true, ..base }
        }
        Hypot | Nextafter | Logaddexp | Logaddexp2 | Igamma | Igammac => {
            Accepts { ints: false, ..base }
        }
        Heaviside => Accepts { bools: true, ..base },
        BitAnd | BitOr | BitXor => Accepts { bools: true, floats: false, ..base },
        ShiftLeft | ShiftRight | Gcd | Lcm => Accepts { floats: false, ..base },
        FloorDiv | TruncDiv | Remainder | Fmod => base,
    }
}

fn check_dtype(kind: Binary, dtype: DType) -> Result<()> {
    let accepts = accepts(kind);
    let fine = match dtype.category() {
        Category::Bool => accepts.bools,
        Category::Int => accepts.ints,
        Category::Float => accepts.floats,
        Category::Complex => accepts.complex,
    };
    if fine {
        return Ok(());
    }
    bail!(Runtime, "{}: not implemented for {dtype}", binary_name(kind));
}

/// Refuses pairs of dtypes that would be promoted, but not for this function.
fn check_pair(kind: Binary, left: DType, right: DType) -> Result<()> {
    match (kind, left, right) {
        (Binary::Sub, DType::Bool, DType::Bool) => bail!(
            Runtime,
            "sub: subtraction, the `-` operator, with two bool tensors is not supported; use the `^` \
             or `logical_xor()` operator instead"
        ),
        (Binary::Sub, DType::Bool, _) | (Binary::Sub, _, DType::Bool) => bail!(
            Runtime,
            "sub: subtraction, the `-` operator, with a bool tensor is not supported; use the `~` or \
             `logical_not()` operator to invert a mask"
        ),
        (Binary::Heaviside, left, right) if left != right => {
            bail!(Runtime, "heaviside: expected tensors of one dtype, got {left} and {right}")
        }
        _ => Ok(()),
    }
}

/// What a function of truth values is called among bit operations.
fn on_bools(kind: Binary) -> Binary {
    match kind {
        Binary::Add | Binary::Maximum | Binary::Fmax => Binary::BitOr,
        Binary::Mul | Binary::Minimum | Binary::Fmin => Binary::BitAnd,
        other => other,
    }
}

/// A function of two tensors of one dtype, broadcast against each other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BinaryOp {
    /// Which.
    pub kind: Binary,
}

#[typetag::serde]
impl Primitive for BinaryOp {
    fn name(&self) -> &'static str {
        binary_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (a, b) = (inputs[0], inputs[1]);
        if a.dtype != b.dtype {
            bail!(
                Runtime,
                "{}: expected tensors of one dtype, got {} and {}",
                self.name(),
                a.dtype,
                b.dtype
            );
        }
        check_pair(self.kind, a.dtype, b.dtype)?;
        check_dtype(self.kind, a.dtype)?;
        one(Meta { shape: broadcast(self.name(), &a.shape, &b.shape)?, dtype: a.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        let kind = if a.dtype == DType::Bool { on_bools(self.kind) } else { self.kind };
        let shape = &out[0].shape;
        dispatch_binary!(kind, a.dtype, T => {
            let data = if a.shape == *shape && b.shape == *shape {
                kernels::binary::binary(kind, a.view::<T>()?, b.view::<T>()?)?
            } else {
                let left = broadcast_strides(&a.shape, &a.strides, shape);
                let right = broadcast_strides(&b.shape, &b.strides, shape);
                kernels::binary::binary(kind, a.view_as::<T>(shape, &left)?, b.view_as::<T>(shape, &right)?)?
            };
            single(Value::from_vec_as(data, shape.as_slice(), out[0].dtype))
        })
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        let (a, b) = (inputs[0], inputs[1]);
        let kind = if a.dtype == DType::Bool { on_bools(self.kind) } else { self.kind };
        let right = broadcast_strides(&b.shape, &b.strides, &target.shape);
        dispatch_binary!(kind, a.dtype, T => {
            let right = b.view_as::<T>(&target.shape, &right)?;
            kernels::binary::binary_into(kind, target.view_mut::<T>()?, a.view::<T>()?, right)?;
            Ok(true)
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let dtype = inputs[0].dtype;
        let side = |value: &Value| -> Result<bridge::Prim> {
            Ok(bridge::expand(to_burn(value)?, dtype, &out[0].shape))
        };
        if !has_burn_kernel(self.kind, dtype) {
            return Ok(None);
        }
        let (a, b) = (side(inputs[0])?, side(inputs[1])?);
        let Some(prim) = burn_binary(self.kind, dtype, a, b, device)? else { return Ok(None) };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        use Binary::*;
        !matches!(self.kind, BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | Gcd | Lcm)
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        use Binary::*;
        match self.kind {
            Add | Sub | FloorDiv | TruncDiv => Saves::NONE,
            // Each side's gradient reads the other side only.
            Mul => Saves::inputs((needs[1] as u32) | ((needs[0] as u32) << 1)),
            Pow | Hypot | Logaddexp | Logaddexp2 => Saves { inputs: 3, outputs: 1 },
            _ => Saves::INPUTS,
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let (a, b, y) = (&ctx.inputs[0], &ctx.inputs[1], &ctx.outputs[0]);
        let mut grads: Grads = SmallVec::new();
        for (side, input) in [a, b].into_iter().enumerate() {
            grads.push(if ctx.needs[side] {
                Some(partial(self.kind, side, g, a, b, y)?.sum_to(&input.shape())?)
            } else {
                None
            });
        }
        Ok(grads)
    }
}
