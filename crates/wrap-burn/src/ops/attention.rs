//! Scaled dot-product attention as one op.

use burn_backend::ops::{AttentionModuleOptions, ModuleOps};
use burn_dispatch::Dispatch;
use kernels::Dims;
use kernels::attention::{Inputs, Mask, Weighed, backward, forward};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::autograd::grad_enabled;
use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::dtype::HostElement;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, single};
use crate::ops::composed::vjp_composed;
use crate::ops::unary::Predicate;
use crate::shape::broadcast;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

const NAME: &str = "scaled_dot_product_attention";

/// Which way attention takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Tiles where they serve, else products.
    Any,
    /// The fused op, which never builds all scores.
    Tiles,
    /// Products and a softmax over all scores.
    Products,
}

/// How attention weighs, beside its tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How likely a weight is dropped.
    pub dropout: f64,
    /// Whether a query meets only keys up to its own place.
    pub causal: bool,
    /// What scores are multiplied by; `None` is one over the square root of the features.
    pub scale: Option<f64>,
    /// Whether several heads of queries may share one of keys and values.
    pub grouped: bool,
    /// Which way to take.
    pub way: Way,
}

/// Attention without dropout. Inputs: queries `(.., l, e)`, keys `(.., s, e)`, values `(.., s, v)`,
/// and maybe a mask `(.., l, s)`: which scores count, or what is added to them. What comes before the
/// last two dimensions is the same everywhere. Outputs: the weighted values; with `keep` the
/// logarithm of each query's sum of exponentials, which the gradient reads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AttentionOp {
    /// What scores are multiplied by, before the mask.
    pub scale: f64,
    /// Whether a query meets only keys up to its own place.
    pub causal: bool,
    /// Whether to keep what the gradient reads.
    pub keep: bool,
}

/// A value whose rows the kernels can read: each without gaps, none before the one above it.
fn readable(value: &Value) -> Result<Value> {
    let rank = value.rank();
    let plain = value.shape[rank - 1] <= 1 || value.strides[rank - 1] == 1;
    if plain && value.strides[rank - 2] >= 0 { Ok(value.clone()) } else { value.contiguous() }
}

/// Host values as the kernels read them.
struct Read {
    parts: [Value; 3],
    mask: Option<Value>,
}

impl Read {
    fn new(inputs: &[&Value], mask: Option<&Value>) -> Result<Self> {
        let parts = [readable(inputs[0])?, readable(inputs[1])?, readable(inputs[2])?];
        Ok(Read { parts, mask: mask.cloned() })
    }

    fn inputs<T: Weighed + HostElement>(&self, op: &AttentionOp) -> Result<Inputs<'_, T>> {
        let [query, key, value] = &self.parts;
        Ok(Inputs {
            query: query.view()?,
            key: key.view()?,
            value: value.view()?,
            mask: match &self.mask {
                None => Mask::None,
                Some(mask) if mask.dtype == DType::Bool => Mask::Allowed(mask.view()?),
                Some(mask) => Mask::Added(mask.view()?),
            },
            scale: T::from(op.scale).expect("every float has a nearest one"),
            causal: op.causal,
        })
    }
}

#[typetag::serde]
impl Primitive for AttentionOp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let [query, key, value, rest @ ..] = inputs else {
            bail!(Type, "{NAME}: expected at least 3 tensors, got {}", inputs.len());
        };
        let dtype = query.dtype;
        let rank = query.rank();
        if !dtype.is_float() || key.dtype != dtype || value.dtype != dtype {
            bail!(
                Runtime,
                "{NAME}: expected query, key and value of one floating-point dtype, got {dtype}, {} \
                 and {}",
                key.dtype,
                value.dtype
            );
        }
        if rank < 2 || key.rank() != rank || value.rank() != rank {
            bail!(
                Runtime,
                "{NAME}: expected query, key and value of the same rank of at least 2, got shapes \
                 {:?}, {:?} and {:?}",
                query.shape,
                key.shape,
                value.shape
            );
        }
        let (lead, queries, keys) =
            (&query.shape[..rank - 2], query.shape[rank - 2], key.shape[rank - 2]);
        let fits = key.shape[..rank - 2] == *lead
            && value.shape[..rank - 2] == *lead
            && key.shape[rank - 1] == query.shape[rank - 1]
            && value.shape[rank - 2] == keys;
        if !fits {
            bail!(
                Runtime,
                "{NAME}: expected query (.., L, E), key (.., S, E) and value (.., S, Ev), got shapes \
                 {:?}, {:?} and {:?}",
                query.shape,
                key.shape,
                value.shape
            );
        }
        let rows: Dims = lead.iter().copied().chain([queries]).collect();
        if let [mask, ..] = rest {
            let scores: Dims = rows.iter().copied().chain([keys]).collect();
            if mask.shape != scores || (mask.dtype != DType::Bool && mask.dtype != dtype) {
                bail!(
                    Runtime,
                    "{NAME}: expected a mask of shape {scores:?} and dtype bool or {dtype}, got {:?} \
                     and {}",
                    mask.shape,
                    mask.dtype
                );
            }
        }
        let mut shape = rows.clone();
        shape.push(value.shape[rank - 1]);
        let mut metas: Metas = smallvec![Meta { shape, dtype }];
        if self.keep {
            // A half float would not tell weights apart.
            metas.push(Meta { shape: rows, dtype: dtype.widened() });
        }
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let read = Read::new(inputs, inputs.get(3).copied())?;
        crate::with_dtype!(NAME, out[0].dtype, floats, T => {
            let found = forward::<T>(read.inputs(self)?);
            let parts = [found.out, found.log_total].into_iter().zip(out);
            Ok(parts.map(|(data, meta)| Value::from_vec_as(data, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if self.keep || inputs.len() > 3 || !self.fits_burn(inputs[0], inputs[1]) {
            return Ok(None);
        }
        let heads = |value: &Value| -> Result<bridge::Prim> {
            let rank = value.rank();
            let lead = value.shape[..rank - 2].iter().product();
            let shape = [1, lead, value.shape[rank - 2], value.shape[rank - 1]];
            Ok(bridge::reshape(to_burn(value)?, value.dtype, &shape))
        };
        let options = AttentionModuleOptions { scale: None, softcap: None, is_causal: self.causal };
        let prim = Dispatch::attention(
            heads(inputs[0])?,
            heads(inputs[1])?,
            heads(inputs[2])?,
            None,
            None,
            options,
        );
        let prim = bridge::reshape(prim, out[0].dtype, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::ALL
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        if grad_enabled() || !self.keep || ctx.needs.get(3) == Some(&true) {
            return vjp_composed(ctx, |inputs| {
                let [query, key, value, rest @ ..] = inputs else {
                    unreachable!("`infer` has checked")
                };
                Ok(vec![composed(query, key, value, rest.first(), 0.0, self.causal, self.scale)?])
            });
        }
        let grad = ctx.grad()?;
        let mut read: Vec<&Tensor> = ctx.inputs[..3].iter().chain(ctx.outputs).collect();
        read.push(grad);
        read.extend(ctx.inputs.get(3));
        let found = apply(&AttentionBackwardOp { forward: *self }, &read)?;
        let mut grads: Grads = found.into_iter().map(Some).collect();
        grads.resize(ctx.inputs.len(), None);
        Ok(grads)
    }
}

impl AttentionOp {
    /// Whether burn's attention on a GPU means the same and is fast: its kernels take no scale of
    /// one's own, its causal mask starts from the last query, and other dtypes than `f32` compile
    /// for minutes.
    fn fits_burn(&self, query: &Value, key: &Value) -> bool {
        let rank = query.rank();
        let (queries, keys) = (query.shape[rank - 2], key.shape[rank - 2]);
        query.dtype == DType::F32
            && self.scale == default_scale(query.shape[rank - 1])
            && (!self.causal || queries == keys)
            && query.numel() > 0
            && key.numel() > 0
    }
}

/// The gradients of an [`AttentionOp`]'s queries, keys and values. Inputs: these, both outputs, the
/// gradient of the first of them, and maybe the mask.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AttentionBackwardOp {
    /// The op whose gradient it is.
    pub forward: AttentionOp,
}

#[typetag::serde]
impl Primitive for AttentionBackwardOp {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention_backward"
    }

    /// Gradients of gradients go by way of products and a softmax, so that this is never recorded.
    fn differentiable(&self) -> bool {
        false
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        Ok(inputs[..3].iter().map(|value| value.to_meta()).collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let read = Read::new(inputs, inputs.get(6).copied())?;
        let dense = [inputs[3].contiguous()?, inputs[4].contiguous()?, inputs[5].contiguous()?];
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => {
            let slice = |at: usize| -> Result<&[T]> {
                let value = &dense[at];
                match value.numel() {
                    0 => Ok(&[]),
                    len => Ok(&value.buffer()?.as_slice()[value.offset..value.offset + len]),
                }
            };
            let given = read.inputs::<T>(&self.forward)?;
            let found = backward(given, (slice(0)?, slice(1)?), slice(2)?);
            let parts = [found.query, found.key, found.value].into_iter().zip(out);
            Ok(parts.map(|(data, meta)| Value::from_vec_as(data, meta.shape.clone(), meta.dtype)).collect())
        })
    }
}

fn default_scale(features: usize) -> f64 {
    1.0 / (features as f64).sqrt()
}

/// Attention by products and a softmax. A query no key counts for gives zeros.
fn composed(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    mask: Option<&Tensor>,
    dropout: f64,
    causal: bool,
    scale: f64,
) -> Result<Tensor> {
    let mut scores = query.mul_scalar(scale)?.matmul(&key.transpose(-2, -1)?)?;
    let shape = scores.shape();
    let (queries, keys) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let lowest = Tensor::full(&[], f64::NEG_INFINITY, scores.dtype(), scores.device())?;
    let hide = |scores: &Tensor, counts: &Tensor| {
        scores.masked_fill(&counts.predicate(Predicate::LogicalNot)?, &lowest)
    };
    if causal {
        let ones = Tensor::ones(&[queries, keys], DType::Bool, scores.device())?;
        scores = hide(&scores, &ones.tril(0)?)?;
    }
    match mask {
        Some(mask) if mask.dtype() == DType::Bool => scores = hide(&scores, mask)?,
        Some(mask) => scores = scores.add(mask)?,
        None => {}
    }
    let mut weights = if mask.is_some() {
        let nothing = scores.eq_scalar(f64::NEG_INFINITY)?.all(Some(&[-1]), true)?;
        let zero = Tensor::full(&[], 0.0, scores.dtype(), scores.device())?;
        scores.masked_fill(&nothing, &zero)?.softmax(-1, None)?.masked_fill(&nothing, &zero)?
    } else {
        scores.softmax(-1, None)?
    };
    if dropout > 0.0 {
        weights = weights.dropout(dropout, true, None)?;
    }
    weights.matmul(value)
}

/// What comes before the last two dimensions.
fn lead(tensor: &Tensor) -> Dims {
    let shape = tensor.shape();
    Dims::from_slice(&shape[..shape.len() - 2])
}

/// A tensor with other dimensions before its last two, which it must broadcast to.
fn with_lead(tensor: &Tensor, to: &[usize]) -> Result<Tensor> {
    if lead(tensor).as_slice() == to {
        return Ok(tensor.clone());
    }
    let shape = tensor.shape();
    let to: Dims = to.iter().copied().chain(shape[shape.len() - 2..].iter().copied()).collect();
    tensor.expand_to(NAME, &to)
}

/// A head of keys or values for each of so many heads of queries.
fn repeated_heads(tensor: &Tensor, heads: usize) -> Result<Tensor> {
    let mut shape = tensor.shape();
    let at = shape.len() - 3;
    let mut wide = shape.clone();
    wide.insert(at + 1, heads / shape[at]);
    shape[at] = heads;
    tensor.unsqueeze(at as i64 + 1)?.expand_to(NAME, &wide)?.reshape_to(&shape)
}

/// Heads as so many groups of heads that share keys and values; one head alone is shared by all.
fn in_groups(tensor: &Tensor, groups: usize) -> Result<Tensor> {
    let mut shape = tensor.shape();
    let at = shape.len() - 3;
    let heads = shape[at];
    let (outer, inner) = if heads == 1 { (1, 1) } else { (groups, heads / groups) };
    shape[at] = outer;
    shape.insert(at + 1, inner);
    tensor.reshape_to(&shape)
}

impl Tensor {
    /// `softmax(query key^T * scale + mask) value`, `self` being the queries. The mask says by truth
    /// values which scores count, or by numbers what is added to them; a query for which no key
    /// counts gives zeros.
    pub fn scaled_dot_product_attention(
        &self,
        key: &Tensor,
        value: &Tensor,
        mask: Option<&Tensor>,
        options: Options,
    ) -> Result<Tensor> {
        let Options { dropout, causal, grouped, .. } = options;
        let (query, mut key, mut value) = (self.clone(), key.clone(), value.clone());
        for (name, tensor) in [("query", &query), ("key", &key), ("value", &value)] {
            if tensor.rank() < 2 {
                bail!(
                    Runtime,
                    "{NAME}: expected query, key and value to have at least 2 dimensions, but {name} \
                     has {} (shape {:?})",
                    tensor.rank(),
                    tensor.shape()
                );
            }
        }
        if !(0.0..=1.0).contains(&dropout) {
            bail!(
                Value,
                "{NAME}: dropout probability has to be between 0 and 1, but got {dropout}"
            );
        }
        if causal && mask.is_some() {
            bail!(
                Runtime,
                "{NAME}: explicit attn_mask should not be set when is_causal=True; hint: put both \
                 into one mask"
            );
        }
        if let Some(mask) = mask
            && mask.dtype() != DType::Bool
            && mask.dtype() != query.dtype()
            && mask.dtype() != DType::F32
        {
            bail!(
                Runtime,
                "{NAME}: expected attn_mask of dtype bool, float32 or that of query, got {} and query \
                 of dtype {}",
                mask.dtype(),
                query.dtype()
            );
        }
        if grouped {
            let heads = |tensor: &Tensor| tensor.shape()[tensor.rank() - 3];
            let ranks = [&query, &key, &value].map(Tensor::rank);
            if ranks.iter().any(|&rank| rank < 3) {
                bail!(
                    Runtime,
                    "{NAME}: enable_gqa expects query, key and value with a dimension of heads before \
                     the last two, got shapes {:?}, {:?} and {:?}",
                    query.shape(),
                    key.shape(),
                    value.shape()
                );
            }
            let counts = [heads(&query), heads(&key), heads(&value)];
            if counts[1..].iter().any(|&count| count == 0 || counts[0] % count != 0) {
                bail!(
                    Runtime,
                    "{NAME}: expected the number of heads in key and value to divide the number of \
                     heads in query, got {}, {} and {}",
                    counts[1],
                    counts[2],
                    counts[0]
                );
            }
            if counts[1] == counts[2] && counts[1] < counts[0] {
                // Looked at in groups, keys and values need not be repeated.
                let mask = match mask {
                    Some(mask) if mask.rank() > 2 => Some(in_groups(mask, counts[1])?),
                    other => other.cloned(),
                };
                let out = in_groups(&query, counts[1])?.scaled_dot_product_attention(
                    &key.unsqueeze(-3)?,
                    &value.unsqueeze(-3)?,
                    mask.as_ref(),
                    Options { grouped: false, ..options },
                )?;
                let shape = out.shape();
                let mut merged = Dims::from_slice(&shape[..shape.len() - 4]);
                merged.push(counts[0]);
                merged.extend_from_slice(&shape[shape.len() - 2..]);
                return out.reshape_to(&merged);
            }
            key = repeated_heads(&key, counts[0])?;
            value = repeated_heads(&value, counts[0])?;
        }
        let wide = broadcast(NAME, &broadcast(NAME, &lead(&query), &lead(&key))?, &lead(&value))?;
        let (query, key, value) =
            (with_lead(&query, &wide)?, with_lead(&key, &wide)?, with_lead(&value, &wide)?);
        let mask = match mask {
            Some(mask) => {
                let (query, key) = (query.shape(), key.shape());
                let sizes = [query[query.len() - 2], key[key.len() - 2]];
                let scores: Dims = wide.iter().copied().chain(sizes).collect();
                let mask = match mask.dtype() {
                    DType::Bool => mask.clone(),
                    _ => mask.to_dtype(self.dtype())?,
                };
                Some(mask.expand_to(NAME, &scores)?)
            }
            None => None,
        };
        let mut inputs = vec![&query, &key, &value];
        inputs.extend(&mask);
        let scale = options.scale.unwrap_or_else(|| default_scale(query.shape()[query.rank() - 1]));
        let tracked = grad_enabled() && inputs.iter().any(|tensor| tensor.requires_grad());
        let op = AttentionOp { scale, causal, keep: tracked };
        // Checks, whichever way is taken.
        let metas = {
            let values: Vec<Value> = inputs.iter().map(|tensor| tensor.value()).collect();
            op.infer(&values.iter().collect::<Vec<_>>())?
        };
        // The gradient of a mask is as large as all scores.
        let wants_mask = |mask: &Tensor| grad_enabled() && mask.requires_grad();
        let gpu = self.device().is_gpu();
        let obstacle = if dropout > 0.0 {
            Some("dropout")
        } else if mask.as_ref().is_some_and(wants_mask) {
            Some("a mask that requires a gradient")
        } else if gpu && (tracked || mask.is_some() || !op.fits_burn(&query.read(), &key.read())) {
            Some("a gradient, a mask, a scale or a dtype on a GPU")
        } else {
            None
        };
        if let (Some(obstacle), Way::Tiles) = (obstacle, options.way) {
            bail!(
                Runtime,
                "{NAME}: no available kernel: tiles do not serve {obstacle}; hint: allow products too"
            );
        }
        let by_products = obstacle.is_some() || options.way == Way::Products;
        if by_products && crate::shape::numel(&metas[0].shape) > 0 {
            return composed(&query, &key, &value, mask.as_ref(), dropout, causal, scale);
        }
        Ok(apply(&op, &inputs)?.swap_remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{close, gradcheck, noise};

    const PLAIN: Options =
        Options { dropout: 0.0, causal: false, scale: None, grouped: false, way: Way::Any };

    fn inputs(lead: &[usize], l: usize, s: usize, dtype: DType) -> [Tensor; 3] {
        let of = |rows: usize, columns: usize, salt: u64| {
            let shape: Vec<usize> = lead.iter().copied().chain([rows, columns]).collect();
            noise(&shape, dtype, salt)
        };
        [of(l, 4, 1), of(s, 4, 2), of(s, 3, 3)]
    }

    /// Truth values, the last query meeting no key.
    fn mask(l: usize, s: usize) -> Tensor {
        let data: Vec<i64> =
            (0..l * s).map(|at| (at % 3 != 1 && at < (l - 1) * s) as i64).collect();
        Tensor::from_vec(data, &[l, s]).unwrap().to_dtype(DType::Bool).unwrap()
    }

    #[test]
    fn gradients_and_their_gradients() {
        let inputs = inputs(&[2], 4, 5, DType::F64);
        let bias = noise(&[4, 5], DType::F64, 9);
        for causal in [false, true] {
            let options = Options { causal, ..PLAIN };
            gradcheck(NAME, &inputs, true, &|x| {
                Ok(vec![x[0].scaled_dot_product_attention(&x[1], &x[2], None, options)?])
            });
        }
        for mask in [mask(4, 5), bias.clone()] {
            gradcheck(NAME, &inputs, true, &|x| {
                Ok(vec![x[0].scaled_dot_product_attention(&x[1], &x[2], Some(&mask), PLAIN)?])
            });
        }
        let [q, k, v] = inputs;
        gradcheck("with the mask's", &[q, k, v, bias], true, &|x| {
            Ok(vec![x[0].scaled_dot_product_attention(&x[1], &x[2], Some(&x[3]), PLAIN)?])
        });
    }

    #[test]
    fn products_and_the_fused_op_agree() {
        let [q, k, v] = inputs(&[2, 3], 40, 150, DType::F64);
        for (mask, causal) in [(None, false), (None, true), (Some(mask(40, 150)), false)] {
            let options = Options { causal, scale: Some(0.7), ..PLAIN };
            let fused = q.scaled_dot_product_attention(&k, &v, mask.as_ref(), options).unwrap();
            close(&fused, &composed(&q, &k, &v, mask.as_ref(), 0.0, causal, 0.7).unwrap());
        }
    }

    #[test]
    fn the_way_can_be_chosen() {
        let [q, k, v] = inputs(&[2], 3, 5, DType::F64);
        let run = |way, dropout| {
            let options = Options { way, dropout, ..PLAIN };
            q.scaled_dot_product_attention(&k, &v, None, options)
        };
        close(&run(Way::Products, 0.0).unwrap(), &run(Way::Tiles, 0.0).unwrap());
        let fault = run(Way::Tiles, 0.5).unwrap_err();
        assert!(fault.message().contains("no available kernel: tiles do not serve dropout"));
    }

    #[test]
    fn burns_attention_means_the_same() {
        for (causal, l, s) in [(false, 6, 9), (true, 7, 7)] {
            let [q, k, v] = inputs(&[2, 3], l, s, DType::F32);
            let op = AttentionOp { scale: default_scale(4), causal, keep: false };
            let values = [q.value(), k.value(), v.value()];
            let values: Vec<&Value> = values.iter().collect();
            let metas = op.infer(&values).unwrap();
            let mut burns = op.run_gpu(&values, &metas, Device::Cpu).unwrap().unwrap();
            let ours = op.run(&values, &metas).unwrap().swap_remove(0);
            let [burns, ours] = [burns.swap_remove(0), ours]
                .map(|value| Tensor::from_value(value).to_vec::<f32>().unwrap());
            assert_eq!(burns.len(), ours.len());
            assert!(
                burns.iter().zip(&ours).all(|(x, y)| (x - y).abs() < 1e-6),
                "{burns:?} {ours:?}"
            );
            let other = AttentionOp { scale: 0.1, ..op };
            assert!(other.run_gpu(&values, &metas, Device::Cpu).unwrap().is_none());
        }
    }

    #[test]
    fn heads_share_keys_and_values() {
        let [q, _, _] = inputs(&[2, 6], 5, 7, DType::F64);
        let [_, k, _] = inputs(&[2, 3], 5, 7, DType::F64);
        let [_, _, v] = inputs(&[2, 2], 5, 7, DType::F64);
        let options = Options { grouped: true, ..PLAIN };
        let out = q.scaled_dot_product_attention(&k, &v, None, options).unwrap();
        for head in 0..6i64 {
            let pick = |x: &Tensor, head: i64| x.select(1, head).unwrap();
            let (q, k, v) = (pick(&q, head), pick(&k, head / 2), pick(&v, head / 3));
            let alone = q.scaled_dot_product_attention(&k, &v, None, PLAIN).unwrap();
            close(&pick(&out, head), &alone);
        }
        let mask = noise(&[6, 5, 7], DType::F64, 4);
        for mask in [None, Some(&mask)] {
            let repeated = repeated_heads(&k, 6).unwrap();
            let plain = q.scaled_dot_product_attention(&repeated, &repeated, mask, PLAIN).unwrap();
            close(&q.scaled_dot_product_attention(&k, &k, mask, options).unwrap(), &plain);
        }
        let fault = k.scaled_dot_product_attention(&q, &q, None, options).unwrap_err();
        assert!(fault.message().contains("to divide the number of heads in query, got 6, 6 and 3"));
    }
}
