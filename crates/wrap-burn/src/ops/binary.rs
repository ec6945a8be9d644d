//! Arithmetic of two tensors, or of a tensor and a number.

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
pub use kernels::binary::Binary;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::unary::{Predicate, Unary};
use crate::shape::{broadcast, broadcast_strides};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, Scalar, bail};

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
    if kind == Binary::Sub && dtype == DType::Bool {
        bail!(
            Runtime,
            "sub: subtraction, the `-` operator, with two bool tensors is not supported; use the `^` \
             or `logical_xor()` operator instead"
        );
    }
    bail!(Runtime, "{}: not implemented for {dtype}", binary_name(kind));
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

macro_rules! dispatch_binary {
    ($kind:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype.category() {
            Category::Complex => $crate::with_dtype!(binary_name($kind), $dtype, complexes, $T => $body),
            _ => $crate::with_dtype!(binary_name($kind), $dtype, reals, $T => $body),
        }
    };
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

/// Whether burn computes this on a GPU.
fn has_burn_kernel(kind: Binary, dtype: DType) -> bool {
    use Binary::*;
    match dtype.category() {
        Category::Float => matches!(
            kind,
            Add | Sub | Mul | Div | Remainder | Pow | Atan2 | Hypot | Maximum | Minimum | FloorDiv
        ),
        Category::Int => {
            matches!(kind, Add | Sub | Mul | TruncDiv | BitAnd | BitOr | BitXor | Remainder)
        }
        Category::Bool => matches!(kind, Add | Mul | BitAnd | BitOr | BitXor | Maximum | Minimum),
        Category::Complex => false,
    }
}

fn burn_binary(
    kind: Binary,
    dtype: DType,
    a: bridge::Prim,
    b: bridge::Prim,
    device: Device,
) -> Result<Option<bridge::Prim>> {
    use Binary::*;
    type D = Dispatch;
    let store = bridge::burn_dtype(DType::Bool, device)?.into();
    Ok(Some(match dtype.category() {
        Category::Float => match kind {
            Add => D::float_add(a, b),
            Sub => D::float_sub(a, b),
            Mul => D::float_mul(a, b),
            Div => D::float_div(a, b),
            FloorDiv => D::float_floor(D::float_div(a, b)),
            Remainder => D::float_remainder(a, b),
            Pow => D::float_powf(a, b),
            Atan2 => D::float_atan2(a, b),
            Hypot => D::float_hypot(a, b),
            Maximum | Minimum => {
                // Take b where it wins, and any NaN of either side.
                let wins = if kind == Maximum {
                    D::float_greater(b.clone(), a.clone(), store)
                } else {
                    D::float_lower(b.clone(), a.clone(), store)
                };
                let wins = D::bool_or(wins, D::float_is_nan(b.clone(), store));
                D::float_mask_where(a, wins, b)
            }
            _ => return Ok(None),
        },
        Category::Int => match kind {
            Add => D::int_add(a, b),
            Sub => D::int_sub(a, b),
            Mul => D::int_mul(a, b),
            TruncDiv => D::int_div(a, b),
            Remainder => D::int_remainder(a, b),
            BitAnd => D::bitwise_and(a, b),
            BitOr => D::bitwise_or(a, b),
            BitXor => D::bitwise_xor(a, b),
            _ => return Ok(None),
        },
        Category::Bool => match on_bools(kind) {
            BitAnd => D::bool_and(a, b),
            BitOr => D::bool_or(a, b),
            BitXor => D::bool_xor(a, b),
            _ => return Ok(None),
        },
        Category::Complex => return Ok(None),
    }))
}

/// `g` times the derivative with respect to one side.
fn partial(
    kind: Binary,
    side: usize,
    g: &Tensor,
    a: &Tensor,
    b: &Tensor,
    y: &Tensor,
) -> Result<Tensor> {
    use Binary::*;
    let mask = |which: Tensor| -> Result<Tensor> { which.to_dtype(g.dtype()) };
    Ok(match (kind, side) {
        (Add, _) | (Sub, 0) | (Remainder | Fmod, 0) => g.clone(),
        (Sub, _) => g.neg()?,
        (Mul, 0) => g.mul(&b.conj()?)?,
        (Mul, _) => g.mul(&a.conj()?)?,
        (Div, 0) => g.div(&b.conj()?)?,
        (Div, _) => g.mul(&a.div(b)?.div(b)?.neg()?.conj()?)?,
        (FloorDiv | TruncDiv | Heaviside, _) | (Nextafter, 1) => g.mul_scalar(0.0)?,
        (Nextafter, _) => g.mul(&mask(a.ne(b)?)?)?,
        (Remainder, _) => g.mul(&a.binary(FloorDiv, b)?.neg()?)?,
        (Fmod, _) => g.mul(&a.binary(TruncDiv, b)?.neg()?)?,
        (Pow, 0) => {
            // b * a^(b-1), and zero where b is zero even if a is zero too.
            let slope = b.mul(&a.binary(Pow, &b.add_scalar(-1.0)?)?)?.conj()?;
            let zero = Tensor::full(&[], 0.0, slope.dtype(), g.device())?;
            g.mul(&b.eq_scalar(0.0)?.where_(&zero, &slope)?)?
        }
        (Pow, _) => {
            // y * ln a, and zero where a is zero and b not negative.
            let zero = Tensor::full(&[], 0.0, y.dtype(), g.device())?;
            let flat = if b.dtype().is_complex() {
                a.eq_scalar(0.0)?
            } else {
                a.eq_scalar(0.0)?.logical_and(&b.ge_scalar(0.0)?)?
            };
            let slope = y.mul(&a.unary(Unary::Log)?)?.conj()?;
            g.mul(&flat.where_(&zero, &slope)?)?
        }
        (Maximum | Minimum, _) => {
            let (own, other) = if side == 0 { (a, b) } else { (b, a) };
            let wins = if kind == Maximum { own.gt(other)? } else { own.lt(other)? };
            // Where both are equal each gets half.
            let share = mask(wins)?.add(&mask(own.eq(other)?)?.mul_scalar(0.5)?)?;
            g.mul(&share)?
        }
        (Fmax | Fmin, _) => {
            let first = if kind == Fmax { a.ge(b)? } else { a.le(b)? };
            let first = first.logical_or(&b.predicate(Predicate::IsNan)?)?;
            let own = if side == 0 { first } else { first.predicate(Predicate::LogicalNot)? };
            g.mul(&mask(own)?)?
        }
        (Atan2, _) => {
            let square = a.square()?.add(&b.square()?)?;
            let other = if side == 0 { b.clone() } else { a.neg()? };
            let slope = other.div(&square)?;
            let zero = Tensor::full(&[], 0.0, slope.dtype(), g.device())?;
            g.mul(&square.eq_scalar(0.0)?.where_(&zero, &slope)?)?
        }
        (Hypot, _) => {
            let own = if side == 0 { a } else { b };
            let slope = own.div(y)?;
            let zero = Tensor::full(&[], 0.0, slope.dtype(), g.device())?;
            g.mul(&y.eq_scalar(0.0)?.where_(&zero, &slope)?)?
        }
        (Copysign, 0) => {
            let ratio = a.binary(Copysign, b)?.div(a)?;
            let zero = Tensor::full(&[], 0.0, ratio.dtype(), g.device())?;
            g.mul(&a.eq_scalar(0.0)?.where_(&zero, &ratio)?)?
        }
        (Copysign, _) => g.mul_scalar(0.0)?,
        (Logaddexp | Logaddexp2, _) => {
            let own = if side == 0 { a } else { b };
            let exp = if kind == Logaddexp { Unary::Exp } else { Unary::Exp2 };
            let share = own.sub(y)?.unary(exp)?;
            // Infinities that are equal cancel to NaN; there each side has half of the slope.
            let half = Tensor::full(&[], 0.5, share.dtype(), g.device())?;
            let stuck = a.eq(b)?.logical_and(&a.predicate(Predicate::IsInf)?)?;
            g.mul(&stuck.where_(&half, &share)?)?
        }
        (Xlogy | Xlog1py, 0) => {
            let inner = if kind == Xlogy { b.unary(Unary::Log)? } else { b.unary(Unary::Log1p)? };
            let zero = Tensor::full(&[], 0.0, inner.dtype(), g.device())?;
            let flat = a.eq_scalar(0.0)?;
            let bound = if kind == Xlogy { b.le_scalar(0.0)? } else { b.le_scalar(-1.0)? };
            g.mul(&flat.logical_and(&bound)?.where_(&zero, &inner)?)?
        }
        (Xlogy, _) => g.mul(&a.div(b)?)?,
        (Xlog1py, _) => g.mul(&a.div(&b.add_scalar(1.0)?)?)?,
        (Zeta, 1) => {
            let next = a.add_scalar(1.0)?.binary(Zeta, b)?;
            g.mul(&a.neg()?.mul(&next)?)?
        }
        (Igamma | Igammac, 1) => {
            // b^(a-1) e^-b / Gamma(a)
            let log = a.add_scalar(-1.0)?.mul(&b.unary(Unary::Log)?)?.sub(b)?;
            let slope = log.sub(&a.unary(Unary::Lgamma)?)?.unary(Unary::Exp)?;
            if kind == Igamma { g.mul(&slope)? } else { g.mul(&slope.neg()?)? }
        }
        (Zeta | Igamma | Igammac, _) => bail!(
            Unsupported,
            "{}: the derivative with respect to its first argument is not implemented",
            binary_name(kind)
        ),
        (BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | Gcd | Lcm, _) => {
            bail!(Unsupported, "{}: integers have no gradient", binary_name(kind))
        }
    })
}

/// A function of a tensor and a number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScalarOp {
    /// Which.
    pub kind: Binary,
    /// The number.
    pub scalar: Scalar,
    /// Whether the number is the left operand.
    pub reversed: bool,
}

impl ScalarOp {
    /// The number as a tensor, for gradients that need it as one.
    fn number(&self, like: &Tensor) -> Result<Tensor> {
        Tensor::full(&[], self.scalar, like.dtype(), like.device())
    }
}

#[typetag::serde]
impl Primitive for ScalarOp {
    fn name(&self) -> &'static str {
        binary_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_dtype(self.kind, inputs[0].dtype)?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        let kind = if x.dtype == DType::Bool { on_bools(self.kind) } else { self.kind };
        dispatch_binary!(kind, x.dtype, T => {
            let number = scalar_as::<T>(self.scalar, x.dtype);
            let data = if self.reversed {
                kernels::binary::scalar_binary(kind, number, x.view::<T>()?)?
            } else {
                kernels::binary::binary_scalar(kind, x.view::<T>()?, number)?
            };
            single(Value::from_vec_as(data, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        if self.reversed || target.dtype == DType::Bool {
            return Ok(false);
        }
        let zeros = kernels::Strides::from_elem(0, target.rank());
        dispatch_binary!(self.kind, target.dtype, T => {
            let number = [scalar_as::<T>(self.scalar, target.dtype)];
            let right = kernels::Strided { data: &number[..], shape: &target.shape, strides: &zeros, offset: 0 };
            kernels::binary::binary_into(self.kind, target.view_mut::<T>()?, inputs[0].view::<T>()?, right)?;
            Ok(true)
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        use Binary::*;
        type D = Dispatch;
        let x = inputs[0];
        let dtype = x.dtype;
        let prim = match (dtype.category(), self.kind, self.reversed) {
            (Category::Float, kind, false) => {
                let s = burn_std::Scalar::Float(self.scalar.to_f64());
                match kind {
                    Add => D::float_add_scalar(to_burn(x)?, s),
                    Sub => D::float_sub_scalar(to_burn(x)?, s),
                    Mul => D::float_mul_scalar(to_burn(x)?, s),
                    Div => D::float_div_scalar(to_burn(x)?, s),
                    Pow => D::float_powf_scalar(to_burn(x)?, s),
                    Remainder => D::float_remainder_scalar(to_burn(x)?, s),
                    FloorDiv => D::float_floor(D::float_div_scalar(to_burn(x)?, s)),
                    _ => return self.with_number(inputs, out, device),
                }
            }
            (Category::Int, Add | Sub | Mul, false) => {
                let s = burn_std::Scalar::Int(self.scalar.to_i64());
                match self.kind {
                    Add => D::int_add_scalar(to_burn(x)?, s),
                    Sub => D::int_sub_scalar(to_burn(x)?, s),
                    _ => D::int_mul_scalar(to_burn(x)?, s),
                }
            }
            (Category::Float, Sub, true) => {
                let s = burn_std::Scalar::Float(self.scalar.to_f64());
                D::float_add_scalar(D::float_neg(to_burn(x)?), s)
            }
            (Category::Float, Div, true) => {
                let s = burn_std::Scalar::Float(self.scalar.to_f64());
                D::float_mul_scalar(D::float_recip(to_burn(x)?), s)
            }
            (Category::Float, Add | Mul, true) => {
                return Self { reversed: false, ..*self }.run_gpu(inputs, out, device);
            }
            _ => return self.with_number(inputs, out, device),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        BinaryOp { kind: self.kind }.differentiable()
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        use Binary::*;
        match self.kind {
            Add | Sub | Mul | FloorDiv | TruncDiv => Saves::NONE,
            Div if !self.reversed => Saves::NONE,
            Remainder | Fmod if !self.reversed => Saves::NONE,
            _ => Saves { inputs: 1, outputs: 1 },
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        use Binary::*;
        let g = ctx.grad()?;
        let (x, y) = (&ctx.inputs[0], &ctx.outputs[0]);
        let scaled = |by: Scalar| g.with_scalar(Mul, by, false);
        let conj = match self.scalar {
            Scalar::Complex(re, im) => Scalar::Complex(re, -im),
            real => real,
        };
        let grad = match (self.kind, self.reversed) {
            (Add, _) | (Sub, false) | (Remainder | Fmod, false) => g.clone(),
            (Sub, true) => g.neg()?,
            (Mul, _) => scaled(conj)?,
            (Div, false) => g.with_scalar(Div, conj, false)?,
            (Pow, false) if self.scalar.to_f64() == 2.0 && !x.dtype().is_complex() => {
                g.mul(&x.mul_scalar(2.0)?)?
            }
            (Pow, false) if !x.dtype().is_complex() => match self.scalar.to_f64() {
                0.0 => g.mul_scalar(0.0)?,
                power => g.mul(&x.pow_scalar(power - 1.0)?.mul_scalar(power)?)?,
            },
            _ => {
                let number = self.number(x)?;
                if self.reversed {
                    partial(self.kind, 1, g, &number, x, y)?
                } else {
                    partial(self.kind, 0, g, x, &number, y)?
                }
            }
        };
        Ok(smallvec![Some(grad)])
    }
}

impl ScalarOp {
    /// On a GPU, by way of a tensor of one element.
    fn with_number(
        &self,
        inputs: &[&Value],
        out: &[Meta],
        device: Device,
    ) -> Result<Option<Values>> {
        let meta = Meta { shape: Default::default(), dtype: inputs[0].dtype };
        let number = crate::ops::create::full_value(&meta, self.scalar, device)?;
        let sides = if self.reversed { [&number, inputs[0]] } else { [inputs[0], &number] };
        BinaryOp { kind: self.kind }.run_gpu(&sides, out, device)
    }
}

fn scalar_as<T: crate::dtype::FromScalar>(scalar: Scalar, dtype: DType) -> T {
    if dtype == DType::Bool {
        T::from_scalar(Scalar::Bool(scalar.to_bool()))
    } else {
        T::from_scalar(scalar)
    }
}

/// A tensor or a number, as either operand of an operator may be.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A number.
    Scalar(Scalar),
}

impl From<Tensor> for Operand {
    fn from(tensor: Tensor) -> Self {
        Operand::Tensor(tensor)
    }
}

impl<S: Into<Scalar>> From<S> for Operand {
    fn from(scalar: S) -> Self {
        Operand::Scalar(scalar.into())
    }
}

/// The dtype two tensors are computed in: dimensions count before 0-d tensors.
pub fn result_type(a: &Tensor, b: &Tensor) -> DType {
    let (a, b) = (a.read(), b.read());
    promoted(a.dtype, a.rank() == 0, b.dtype, b.rank() == 0)
}

pub(crate) fn promoted(a: DType, a_scalar: bool, b: DType, b_scalar: bool) -> DType {
    if a == b || a_scalar == b_scalar {
        return a.promote(b);
    }
    let (dims, zero) = if b_scalar { (a, b) } else { (b, a) };
    match (dims.category(), zero.category()) {
        (Category::Float, Category::Complex) => dims.to_complex(),
        (high, low) if low > high => dims.promote(zero),
        _ => dims,
    }
}

impl Tensor {
    /// A function of two tensors, promoted and broadcast.
    pub fn binary(&self, kind: Binary, other: &Tensor) -> Result<Tensor> {
        let op = BinaryOp { kind };
        let plain = {
            let (a, b) = (self.read(), other.read());
            a.dtype == b.dtype
                && a.device() == b.device()
                && (a.dtype.category() >= Category::Float || !accepts(kind).promotes)
        };
        if plain {
            return apply1(&op, &[self, other]);
        }
        let (a, b) = self.matched(kind, other)?;
        apply1(&op, &[&a, &b])
    }

    /// Both tensors on one device and in the dtype a function computes them in.
    fn matched(&self, kind: Binary, other: &Tensor) -> Result<(Tensor, Tensor)> {
        let (a, b) = same_device(binary_name(kind), self, other)?;
        let mut dtype = result_type(&a, &b);
        if accepts(kind).promotes && dtype.category() <= Category::Int {
            dtype = a.device().narrow(crate::defaults::float());
        }
        Ok((a.to_dtype(dtype)?, b.to_dtype(dtype)?))
    }

    /// A function of a tensor and a number (`reversed`: of a number and a tensor).
    pub fn with_scalar(&self, kind: Binary, scalar: Scalar, reversed: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        let mut target = scalar.promote(dtype, crate::defaults::float());
        if accepts(kind).promotes && target.category() <= Category::Int {
            target = crate::defaults::float();
        }
        let op = ScalarOp { kind, scalar, reversed };
        if target == dtype {
            return apply1(&op, &[self]);
        }
        apply1(&op, &[&self.to_dtype(self.device().narrow(target))?])
    }

    /// A function of a tensor and a tensor or number.
    pub fn with(&self, kind: Binary, other: &Operand) -> Result<Tensor> {
        match other {
            Operand::Tensor(other) => self.binary(kind, other),
            Operand::Scalar(scalar) => self.with_scalar(kind, *scalar, false),
        }
    }

    /// The same, written into this tensor.
    pub fn with_(&self, kind: Binary, other: &Operand) -> Result<()> {
        let (dtype, device) = (self.dtype(), self.device());
        match other {
            Operand::Tensor(other) => {
                let promoted = result_type(self, other);
                let float = accepts(kind).promotes && promoted.category() <= Category::Int;
                if promoted == dtype && other.dtype() == dtype && other.device() == device && !float
                {
                    return crate::autograd::apply_into(&BinaryOp { kind }, &[self, other]);
                }
                let result = self.binary(kind, other)?;
                if result.shape() != self.shape() {
                    bail!(
                        Runtime,
                        "{}_: output with shape {:?} doesn't match the broadcast shape {:?}",
                        binary_name(kind),
                        self.shape(),
                        result.shape()
                    );
                }
                crate::autograd::assign(self, &result)
            }
            Operand::Scalar(scalar) => {
                let target = scalar.promote(dtype, crate::defaults::float());
                let float = accepts(kind).promotes && target.category() <= Category::Int;
                if target == dtype && !float {
                    return crate::autograd::apply_into(
                        &ScalarOp { kind, scalar: *scalar, reversed: false },
                        &[self],
                    );
                }
                crate::autograd::assign(self, &self.with_scalar(kind, *scalar, false)?)
            }
        }
    }

    /// `a + b`.
    pub fn add(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Add, other)
    }

    /// `a += b`.
    pub fn add_(&self, other: &Tensor) -> Result<()> {
        self.with_(Binary::Add, &Operand::Tensor(other.clone()))
    }

    /// `a - b`.
    pub fn sub(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Sub, other)
    }

    /// `a * b`.
    pub fn mul(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Mul, other)
    }

    /// `a / b`, true division.
    pub fn div(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Div, other)
    }

    /// `a + number`.
    pub fn add_scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.with_scalar(Binary::Add, number.into(), false)
    }

    /// `a * number`.
    pub fn mul_scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.with_scalar(Binary::Mul, number.into(), false)
    }

    /// `a ** number`.
    pub fn pow_scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.with_scalar(Binary::Pow, number.into(), false)
    }
}

/// Both tensors on one device: a 0-d CPU tensor follows the other.
pub(crate) fn same_device(op: &str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let (left, right) = (a.device(), b.device());
    if left == right {
        return Ok((a.clone(), b.clone()));
    }
    if left == Device::Cpu && a.rank() == 0 {
        let a = a.to_dtype(right.narrow(a.dtype()))?;
        return Ok((a.to_device(right)?, b.clone()));
    }
    if right == Device::Cpu && b.rank() == 0 {
        let b = b.to_dtype(left.narrow(b.dtype()))?;
        return Ok((a.clone(), b.to_device(left)?));
    }
    bail!(
        Runtime,
        "{op}: expected all tensors to be on the same device, got {left} and {right}; move one with \
         .to(\"{left}\")"
    );
}
