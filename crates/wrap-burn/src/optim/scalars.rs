//! Numbers kept in tensors of one element.

use crate::tensor::Tensor;
use crate::value::{Storage, Value};
use crate::{DType, Result, Scalar};

/// The memory of a number on the host, where it can be read and written directly.
fn memory(value: &Value) -> Option<*mut f32> {
    match &value.storage {
        Storage::Host(buffer) if value.dtype == DType::F32 => {
            Some(buffer.pointer().cast::<f32>().wrapping_add(value.offset))
        }
        _ => None,
    }
}

/// The numbers.
pub(super) fn read<const K: usize>(scalars: &[Tensor]) -> Result<[f64; K]> {
    let mut numbers = [0.0; K];
    for (number, scalar) in numbers.iter_mut().zip(scalars) {
        let value = scalar.read();
        *number = match memory(&value) {
            // SAFETY: the tensor has one element, at this place of memory it holds.
            Some(place) => unsafe { *place as f64 },
            None if value.has_data() => value.item()?.to_f64(),
            // Without data there is nothing to count, only shapes to infer.
            None => 1.0,
        };
    }
    Ok(numbers)
}

/// Puts numbers in place of the old ones.
pub(super) fn write<const K: usize>(scalars: &[Tensor], numbers: [f64; K]) -> Result<()> {
    for (scalar, number) in scalars.iter().zip(numbers) {
        let value = scalar.read();
        match memory(&value) {
            // SAFETY: as above; what may be looked at while it is written, tensors say.
            Some(place) => unsafe { *place = number as f32 },
            None => {
                let (dtype, device) = (value.dtype, value.device());
                let number = Tensor::full(&value.shape, Scalar::Float(number), dtype, device)?;
                value.assign(&number.value())?;
            }
        }
        value.bump_version();
    }
    Ok(())
}
