//! What a linear layer computes: a product with a transposed matrix, and a sum.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::{Binary, BinaryOp};
use crate::ops::matmul::MatmulOp;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// `x @ weight.T + bias` for floats: `x` of shape `(*, k)`, `weight` `(n, k)` and, if there is a
/// third input, `bias` `(n)`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LinearOp;

/// A value as rows: `(*, k)` as `(m, k)`, without a copy where its strides allow it.
fn rows(x: &Value) -> Result<Value> {
    let columns = x.shape[x.rank() - 1];
    let count = x.shape[..x.rank() - 1].iter().product();
    match x.reshaped(&[count, columns]) {
        Some(rows) => Ok(rows),
        None => Ok(x.contiguous()?.reshaped(&[count, columns]).expect("contiguous")),
    }
}

/// A matrix turned round.
fn turned(weight: &Value) -> Value {
    weight.with_geometry(
        Dims::from_slice(&[weight.shape[1], weight.shape[0]]),
        smallvec![weight.strides[1], weight.strides[0]],
        weight.offset,
    )
}

#[typetag::serde]
impl Primitive for LinearOp {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, weight) = (inputs[0], inputs[1]);
        if let Some(other) = inputs[1..].iter().find(|other| other.dtype != x.dtype) {
            bail!(
                Runtime,
                "linear: expected input, weight and bias of one dtype, got {} and {}; hint: convert \
                 with .to()",
                x.dtype,
                other.dtype
            );
        }
        let inner = x.shape.last().copied();
        if weight.rank() != 2 || inner != Some(weight.shape[1]) {
            bail!(
                Runtime,
                "linear: mat1 and mat2 shapes cannot be multiplied: expected an input of shape \
                 (*, in_features) and a weight of shape (out_features, in_features), got {:?} and \
                 {:?}",
                x.shape,
                weight.shape
            );
        }
        let width = weight.shape[0];
        if let Some(bias) = inputs.get(2)
            && bias.shape[..] != [width]
        {
            bail!(
                Runtime,
                "linear: expected a bias of shape [{width}] for a weight of shape {:?}, got {:?}",
                weight.shape,
                bias.shape
            );
        }
        let mut shape = Dims::from_slice(&x.shape);
        shape[x.rank() - 1] = width;
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, weight) = (rows(inputs[0])?, turned(inputs[1]));
        let meta = Meta::new(Dims::from_slice(&[x.shape[0], weight.shape[1]]), x.dtype);
        let product = MatmulOp.run(&[&x, &weight], std::slice::from_ref(&meta))?;
        if let Some(bias) = inputs.get(2) {
            // The product is new: nobody else looks at its memory.
            let add = BinaryOp { kind: Binary::Add };
            add.run_into(&product[0], &[&product[0], bias])?;
        }
        single(product[0].reshaped(&out[0].shape).expect("a product is contiguous"))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if inputs[0].numel() == 0 || inputs[1].numel() == 0 {
            return Ok(None);
        }
        let (x, weight) = (rows(inputs[0])?, turned(inputs[1]));
        let mut prim = Dispatch::float_matmul(to_burn(&x)?, to_burn(&weight)?);
        if let Some(bias) = inputs.get(2) {
            let shape = [x.shape[0], weight.shape[1]];
            let bias = bridge::expand(to_burn(bias)?, out[0].dtype, &shape);
            prim = Dispatch::float_add(prim, bias);
        }
        let prim = bridge::reshape(prim, out[0].dtype, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        Saves::inputs((needs[1] as u32) | ((needs[0] as u32) << 1))
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let (x, weight) = (&ctx.inputs[0], &ctx.inputs[1]);
        let mut grads: Grads = ctx.needs.iter().map(|_| None).collect();
        if ctx.needs[0] {
            grads[0] = Some(g.matmul(weight)?);
        }
        if ctx.needs[1] {
            let (n, k) = (weight.shape()[0], weight.shape()[1]);
            let g = g.reshape_to(&[g.numel() / n.max(1), n])?;
            let x = x.reshape_to(&[x.numel() / k.max(1), k])?;
            grads[1] = Some(g.transpose(0, 1)?.matmul(&x)?);
        }
        if ctx.needs.get(2) == Some(&true) {
            grads[2] = Some(g.sum_to(&[weight.shape()[0]])?);
        }
        Ok(grads)
    }
}

impl Tensor {
    /// `x @ weight.T + bias`, as a linear layer computes it.
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        // One op where it is what layers are; what else PyTorch takes is made of others.
        let plain = {
            let (x, weight) = (self.read(), weight.read());
            x.dtype.is_float()
                && x.rank() > 0
                && weight.rank() == 2
                && weight.numel() > 0
                && bias.is_none_or(|bias| bias.rank() == 1 && bias.numel() == weight.shape[0])
        };
        if plain {
            return match bias {
                Some(bias) => apply1(&LinearOp, &[self, weight, bias]),
                None => apply1(&LinearOp, &[self, weight]),
            };
        }
        let weight = match weight.rank() {
            1 => weight.clone(),
            2 => weight.transpose(0, 1)?,
            rank => {
                bail!(
                    Runtime,
                    "linear: expected a weight with one or two dimensions, got {rank} (shape {:?})",
                    weight.shape()
                )
            }
        };
        let out = self.matmul(&weight).map_err(|fault| fault.within("linear"))?;
        match bias {
            Some(bias) => out.add(bias),
            None => Ok(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::linalg::tests::{gradcheck, noise};
    use crate::{DType, Tensor};

    #[test]
    fn is_a_product_and_a_sum() {
        let weight = noise(&[5, 7], DType::F64, 1);
        let bias = noise(&[5], DType::F64, 2);
        for shape in [&[7][..], &[3, 7], &[2, 3, 7], &[2, 0, 7], &[64, 40, 7]] {
            let x = noise(shape, DType::F64, 3);
            let want = x.matmul(&weight.transpose(0, 1).unwrap()).unwrap().add(&bias).unwrap();
            let got = x.linear(&weight, Some(&bias)).unwrap();
            assert_eq!(got.shape(), want.shape());
            let pairs = got.to_vec::<f64>().unwrap().into_iter().zip(want.to_vec::<f64>().unwrap());
            assert!(pairs.into_iter().all(|(got, want)| (got - want).abs() < 1e-12));
        }
    }

    #[test]
    fn gradients() {
        let inputs = [
            noise(&[2, 3, 4], DType::F64, 1),
            noise(&[5, 4], DType::F64, 2),
            noise(&[5], DType::F64, 3),
        ];
        gradcheck("linear", &inputs, true, &|x| Ok(vec![x[0].linear(&x[1], Some(&x[2]))?]));
        gradcheck("linear", &inputs[..2], true, &|x| Ok(vec![x[0].linear(&x[1], None)?]));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32, crate::Device::Cpu).unwrap();
        let fault = ones(&[2, 3]).linear(&ones(&[5, 4]), None).unwrap_err().to_string();
        assert!(fault.contains("[2, 3]") && fault.contains("[5, 4]"), "{fault}");
        assert!(ones(&[2, 4]).linear(&ones(&[5, 4]), Some(&ones(&[3]))).is_err());
        let double = noise(&[5, 4], DType::F64, 1);
        assert!(ones(&[2, 4]).linear(&double, None).is_err());
    }
}
