//! The functions that burn computes on GPUs.

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;

use super::{Binary, on_bools};
use crate::bridge;
use crate::device::Device;
use crate::{Category, DType, Result};

/// Whether burn computes this on a GPU.
pub(super) fn has_burn_kernel(kind: Binary, dtype: DType) -> bool {
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

pub(super) fn burn_binary(
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
