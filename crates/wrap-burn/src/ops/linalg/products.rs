//! Products of vectors and chains of matrices.

use crate::ops::binary::result_type;
use crate::shape::{broadcast, wrap_dim};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{DType, Result, bail};

/// Where to cut the product of matrices `first..=last` last: `cuts[first][last]`, by the smallest
/// number of multiplications.
fn best_cuts(sizes: &[usize]) -> Vec<Vec<usize>> {
    let count = sizes.len() - 1;
    let mut costs = vec![vec![0u128; count]; count];
    let mut cuts = vec![vec![0; count]; count];
    for span in 1..count {
        for first in 0..count - span {
            let last = first + span;
            let cost_at = |cut: usize| {
                let product =
                    sizes[first] as u128 * sizes[cut + 1] as u128 * sizes[last + 1] as u128;
                costs[first][cut] + costs[cut + 1][last] + product
            };
            let cut = (first..last).min_by_key(|&cut| cost_at(cut)).unwrap_or(first);
            let cost = cost_at(cut);
            costs[first][last] = cost;
            cuts[first][last] = cut;
        }
    }
    cuts
}

fn chain(tensors: &[Tensor], cuts: &[Vec<usize>], first: usize, last: usize) -> Result<Tensor> {
    if first == last {
        return Ok(tensors[first].clone());
    }
    let cut = cuts[first][last];
    chain(tensors, cuts, first, cut)?.matmul(&chain(tensors, cuts, cut + 1, last)?)
}

impl Tensor {
    /// The product of matrices in the cheapest order; the first and the last may be vectors.
    pub fn multi_dot(tensors: &[Tensor]) -> Result<Tensor> {
        let op = "multi_dot";
        let count = tensors.len();
        if count < 2 {
            bail!(Runtime, "{op}: expected at least 2 tensors but got {count}");
        }
        let (first, last) = (&tensors[0], &tensors[count - 1]);
        for (which, tensor) in [("first", first), ("last", last)] {
            if !matches!(tensor.rank(), 1 | 2) {
                bail!(
                    Runtime,
                    "{op}: the {which} tensor must be 1D or 2D but got {}D",
                    tensor.rank()
                );
            }
        }
        let mut matrices: Vec<Tensor> = tensors.to_vec();
        if first.rank() == 1 {
            matrices[0] = first.unsqueeze(0)?;
        }
        if last.rank() == 1 {
            matrices[count - 1] = last.unsqueeze(-1)?;
        }
        let mut sizes = vec![matrices[0].shape()[0]];
        for (at, tensor) in matrices.iter().enumerate() {
            let shape = tensor.shape();
            if shape.len() != 2 {
                bail!(Runtime, "{op}: tensor {at} must be 2D but got {}D", shape.len());
            }
            if at > 0 && sizes[at] != shape[0] {
                bail!(
                    Runtime,
                    "{op}: tensors {} and {at} with shapes {:?} and {:?} cannot be multiplied",
                    at - 1,
                    tensors[at - 1].shape(),
                    tensors[at].shape()
                );
            }
            sizes.push(shape[1]);
        }
        let product = chain(&matrices, &best_cuts(&sizes), 0, count - 1)?;
        let mut shape = product.shape();
        if last.rank() == 1 {
            shape.pop();
        }
        if first.rank() == 1 {
            shape.remove(0);
        }
        product.reshape_to(&shape)
    }

    /// [`multi_dot`](Tensor::multi_dot) of matrices only; a single one is its own product.
    pub fn chain_matmul(tensors: &[Tensor]) -> Result<Tensor> {
        match tensors {
            [] => bail!(Runtime, "chain_matmul: Expected one or more matrices"),
            [single] => Ok(single.clone()),
            _ => {
                if let Some(tensor) = tensors.iter().find(|tensor| tensor.rank() != 2) {
                    bail!(
                        Runtime,
                        "chain_matmul: Tensor dimension is {}, expected 2 instead",
                        tensor.rank()
                    );
                }
                Tensor::multi_dot(tensors)
            }
        }
    }

    /// The vector product along a dimension of size three.
    pub fn cross(&self, other: &Tensor, dim: i64) -> Result<Tensor> {
        let op = "linalg.cross";
        let (left, right) = (self.shape(), other.shape());
        if left.len() != right.len() {
            bail!(
                Runtime,
                "{op}: inputs must have the same number of dimensions, got shapes {left:?} and {right:?}"
            );
        }
        let dim = wrap_dim(op, dim, left.len())?;
        let sizes = [&left, &right].map(|shape| shape.get(dim).copied().unwrap_or(1));
        if sizes != [3, 3] {
            bail!(
                Runtime,
                "{op}: inputs dimension {dim} must have length 3. Got {} and {}",
                sizes[0],
                sizes[1]
            );
        }
        broadcast(op, &left, &right)?;
        let dtype = result_type(self, other);
        let device = self.device();
        let turned = |x: &Tensor, order: [i64; 3]| -> Result<Tensor> {
            let index = Value::from_vec(order.to_vec(), [3usize].as_slice());
            let index =
                crate::op::cast_host(&index, device.narrow(DType::I64))?.to_device(device)?;
            x.to_dtype(dtype)?.index_select(dim as i64, &Tensor::from_value(index))
        };
        let (next, previous) = ([1, 2, 0], [2, 0, 1]);
        let first = turned(self, next)?.mul(&turned(other, previous)?)?;
        first.sub(&turned(self, previous)?.mul(&turned(other, next)?)?)
    }
}
