//! Values by their definitions, gradients and gradients of gradients by differences.

use super::norm::NormOrder;
use super::qr::QrMode;
use crate::autograd::{ModeGuard, grad};
use crate::ops::unary::Unary;
use crate::{DType, ErrorKind, Result, Scalar, Tensor};

/// Numbers that look random, between -1 and 1.
pub(crate) fn noise(shape: &[usize], dtype: DType, salt: u64) -> Tensor {
    let count: usize = shape.iter().product();
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    if dtype.is_complex() {
        let data = (0..count).map(|_| num_complex::Complex::new(next(), next())).collect();
        return Tensor::from_vec::<num_complex::Complex<f64>>(data, shape)
            .unwrap()
            .to_dtype(dtype)
            .unwrap();
    }
    Tensor::from_vec((0..count).map(|_| next()).collect::<Vec<f64>>(), shape)
        .unwrap()
        .to_dtype(dtype)
        .unwrap()
}

type Function<'a> = &'a dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>;

/// One real number made of all of a function's outputs.
fn loss(f: Function<'_>, inputs: &[Tensor]) -> Result<Tensor> {
    let mut total = Tensor::zeros(&[], DType::F64, inputs[0].device())?;
    for (at, out) in f(inputs)?.iter().enumerate() {
        if !out.dtype().is_differentiable() {
            continue;
        }
        let weights = noise(&out.shape(), out.dtype(), 77 + at as u64);
        total = total.add(&out.mul(&weights.conj()?)?.real()?.sum(None, false)?)?;
    }
    Ok(total)
}

fn leaves(inputs: &[Tensor]) -> Vec<Tensor> {
    inputs
        .iter()
        .map(|input| {
            let leaf = input.detach().deep_copy().unwrap();
            leaf.set_requires_grad(true).unwrap();
            leaf
        })
        .collect()
}

fn slopes(f: Function<'_>, inputs: &[Tensor], create_graph: bool) -> Result<Vec<Tensor>> {
    let total = loss(f, inputs)?;
    let grads = if total.requires_grad() {
        grad(&[total], inputs, &[None], create_graph, create_graph)?
    } else {
        // The gradient of a linear function depends on nothing.
        vec![None; inputs.len()]
    };
    inputs
        .iter()
        .zip(grads)
        .map(|(input, grad)| match grad {
            Some(grad) => Ok(grad),
            None => Tensor::zeros(&input.shape(), input.dtype(), input.device()),
        })
        .collect()
}

/// Compares gradients with differences.
fn compare(name: &str, f: Function<'_>, inputs: &[Tensor]) {
    const STEP: f64 = 1e-6;
    let own = leaves(inputs);
    let grads = slopes(f, &own, false).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    for (at, (input, found)) in inputs.iter().zip(&grads).enumerate() {
        assert_eq!(found.meta(), input.meta(), "{name}: input {at}");
        let parts = if input.dtype().is_complex() { 2 } else { 1 };
        let found = found.to_vec::<num_complex::Complex<f64>>().unwrap();
        for (k, found) in found.iter().enumerate() {
            for part in 0..parts {
                let shifted = |by: f64| {
                    let mut data = input.to_vec::<num_complex::Complex<f64>>().unwrap();
                    if part == 0 {
                        data[k].re += by;
                    } else {
                        data[k].im += by;
                    }
                    let moved = Tensor::from_vec(data, &input.shape()).unwrap();
                    let moved = if parts == 1 { moved.real().unwrap() } else { moved };
                    let mut all = inputs.to_vec();
                    all[at] = moved;
                    // Recorded all the same: a function may differentiate inside.
                    loss(f, &leaves(&all)).unwrap().item().unwrap().to_f64()
                };
                let expected = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
                let found = if part == 0 { found.re } else { found.im };
                let error = (expected - found).abs() / (1.0 + expected.abs());
                assert!(
                    error < 2e-5,
                    "{name}: input {at}, element {k}.{part}: {found}, by differences {expected}"
                );
            }
        }
    }
}

/// Compares gradients, and with `twice` gradients of gradients, with differences.
pub(crate) fn gradcheck(name: &str, inputs: &[Tensor], twice: bool, f: Function<'_>) {
    compare(name, f, inputs);
    if twice {
        compare(&format!("{name}, twice"), &|inputs| slopes(f, inputs, true), inputs);
    }
}

/// `A A^H + I`.
fn positive(a: &Tensor) -> Result<Tensor> {
    a.matmul(&super::adjoint(a)?)?.add(&super::identity_like(a)?)
}

fn hermitian(a: &Tensor) -> Result<Tensor> {
    a.add(&super::adjoint(a)?)
}

pub(crate) fn close(a: &Tensor, b: &Tensor) {
    assert_eq!(a.shape(), b.shape());
    let pair = [a, b].map(|x| x.to_vec::<num_complex::Complex<f64>>().unwrap());
    for (x, y) in pair[0].iter().zip(&pair[1]) {
        assert!((x - y).norm() < 1e-9 * (1.0 + y.norm()), "{:?} {:?}", pair[0], pair[1]);
    }
}

const FIELDS: [DType; 2] = [DType::F64, DType::C128];

#[test]
fn systems() {
    for dtype in FIELDS {
        let (a, b) = (noise(&[2, 3, 3], dtype, 1), noise(&[3, 2], dtype, 2));
        let v = noise(&[2, 3], dtype, 3);
        gradcheck("inv", std::slice::from_ref(&a), true, &|x| Ok(vec![x[0].inv()?]));
        gradcheck("solve", &[a.clone(), b.clone()], true, &|x| Ok(vec![x[0].solve(&x[1], true)?]));
        gradcheck("solve vectors", &[a.clone(), v.clone()], false, &|x| {
            Ok(vec![x[0].solve(&x[1], true)?])
        });
        // Not `(2, 3)`: that would be a batch of vectors.
        let right = noise(&[4, 3], dtype, 4);
        gradcheck("solve right", &[a.clone(), right.clone()], false, &|x| {
            Ok(vec![x[0].solve(&x[1], false)?])
        });
        for upper in [false, true] {
            for unit in [false, true] {
                gradcheck("solve_triangular", &[a.clone(), b.clone()], true, &|x| {
                    Ok(vec![x[0].solve_triangular(&x[1], upper, true, unit)?])
                });
            }
            gradcheck("solve_triangular right", &[a.clone(), right.clone()], false, &|x| {
                Ok(vec![x[0].solve_triangular(&x[1], upper, false, false)?])
            });
            gradcheck("cholesky", std::slice::from_ref(&a), true, &|x| {
                Ok(vec![positive(&x[0])?.cholesky(upper)?])
            });
            gradcheck("cholesky_solve", &[a.clone(), b.clone()], false, &|x| {
                let factor = positive(&x[0])?.cholesky(upper)?;
                Ok(vec![factor.cholesky_solve(&x[1], upper)?, factor.cholesky_inverse(upper)?])
            });
            let factor = positive(&a).unwrap().cholesky(upper).unwrap();
            close(&factor.cholesky_inverse(upper).unwrap(), &positive(&a).unwrap().inv().unwrap());
        }
        for adjoint in [false, true] {
            gradcheck("lu_solve", &[a.clone(), b.clone()], false, &|x| {
                let (lu, pivots) = x[0].lu_factor()?;
                Ok(vec![lu.lu_solve(&pivots, &x[1], true, adjoint)?])
            });
            let (lu, pivots) = a.lu_factor().unwrap();
            let operator = if adjoint { super::adjoint(&a).unwrap() } else { a.clone() };
            close(
                &lu.lu_solve(&pivots, &b, true, adjoint).unwrap(),
                &operator.solve(&b, true).unwrap(),
            );
            close(
                &lu.lu_solve(&pivots, &right, false, adjoint).unwrap(),
                &operator.solve(&right, false).unwrap(),
            );
        }
    }
}

#[test]
fn determinants() {
    for dtype in FIELDS {
        let a = noise(&[2, 3, 3], dtype, 4);
        gradcheck("det", std::slice::from_ref(&a), true, &|x| Ok(vec![x[0].det()?]));
        gradcheck("slogdet", std::slice::from_ref(&a), true, &|x| {
            x[0].slogdet().map(|(sign, log)| vec![sign, log])
        });
        gradcheck("logdet", std::slice::from_ref(&a), true, &|x| {
            Ok(vec![positive(&x[0])?.logdet()?])
        });
        let exact = Tensor::from_vec(vec![1.0f64, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 1.0, 1.0], &[3, 3])
            .unwrap();
        let exact = exact.to_dtype(dtype).unwrap();
        assert_eq!(exact.det().unwrap().to_vec::<f64>().unwrap(), [0.0]);
        gradcheck("det of a singular matrix", &[exact], false, &|x| Ok(vec![x[0].det()?]));
    }
}

#[test]
fn factorisations() {
    for dtype in FIELDS {
        for (m, n) in [(3, 3), (4, 2), (2, 4)] {
            let a = noise(&[2, m, n], dtype, 6);
            let (p, l, u) = a.lu().unwrap();
            close(&p.matmul(&l).unwrap().matmul(&u).unwrap(), &a);
            gradcheck("lu", std::slice::from_ref(&a), m == n, &|x| {
                x[0].lu().map(|(_, l, u)| vec![l, u])
            });
            let (q, r) = a.qr(QrMode::Reduced).unwrap();
            close(&q.matmul(&r).unwrap(), &a);
            gradcheck("qr", std::slice::from_ref(&a), true, &|x| {
                x[0].qr(QrMode::Reduced).map(|(q, r)| vec![q, r])
            });
            gradcheck("qr, Q only", std::slice::from_ref(&a), false, &|x| {
                x[0].qr(QrMode::Reduced).map(|(q, _)| vec![q])
            });
            let (_, r) = a.qr(QrMode::R).unwrap();
            assert_eq!(r.shape().as_slice(), [2, m.min(n), n]);
            for full in [false, true] {
                let (u, s, vh) = a.svd(full).unwrap();
                if !full {
                    close(&u.mul(&s.unsqueeze(-2).unwrap()).unwrap().matmul(&vh).unwrap(), &a);
                }
                gradcheck("svd", std::slice::from_ref(&a), !full, &|x| {
                    let (u, s, vh) = x[0].svd(full)?;
                    let k = m.min(n);
                    let (u, vh) = (u.slice(2, 0, k, 1)?, vh.slice(1, 0, k, 1)?);
                    Ok(vec![u.unary(Unary::Abs)?, s, vh.unary(Unary::Abs)?, u.matmul(&vh)?])
                });
            }
            gradcheck("svdvals", std::slice::from_ref(&a), true, &|x| Ok(vec![x[0].svdvals()?]));
            gradcheck("pinv", std::slice::from_ref(&a), true, &|x| {
                Ok(vec![x[0].pinv(None, None, false)?])
            });
            assert_eq!(
                a.matrix_rank(None, None, false).unwrap().to_vec::<i64>().unwrap(),
                [m.min(n) as i64; 2]
            );
            let b = noise(&[2, m, 2], dtype, 7);
            gradcheck("lstsq", &[a.clone(), b], true, &|x| {
                let solved = x[0].lstsq(&x[1], None, Some("gelsd"))?;
                Ok(vec![solved.solution, solved.residuals, solved.singular_values])
            });
            if m >= n {
                let (v, tau) = a.geqrf().unwrap();
                close(&v.householder_product(&tau).unwrap(), &q);
                gradcheck("householder_product", &[v, tau], true, &|x| {
                    Ok(vec![x[0].householder_product(&x[1])?])
                });
            }
        }
    }
}

#[test]
fn eigenvalues() {
    for dtype in FIELDS {
        let a = noise(&[2, 3, 3], dtype, 8);
        for lower in [false, true] {
            gradcheck("eigh", std::slice::from_ref(&a), true, &|x| {
                let (values, vectors) = hermitian(&x[0])?.eigh(lower)?;
                Ok(vec![values, vectors.unary(Unary::Abs)?])
            });
            gradcheck("eigvalsh", std::slice::from_ref(&a), true, &|x| {
                Ok(vec![hermitian(&x[0])?.eigvalsh(lower)?])
            });
        }
        gradcheck("pinv of Hermitian matrices", std::slice::from_ref(&a), false, &|x| {
            Ok(vec![hermitian(&x[0])?.pinv(None, None, true)?])
        });
        gradcheck("eig", std::slice::from_ref(&a), true, &|x| {
            let (values, vectors) = x[0].eig()?;
            Ok(vec![values, vectors.unary(Unary::Abs)?])
        });
        gradcheck("eigvals", std::slice::from_ref(&a), true, &|x| Ok(vec![x[0].eigvals()?]));
        gradcheck("matrix_exp", std::slice::from_ref(&a), true, &|x| Ok(vec![x[0].matrix_exp()?]));
        for power in [-2, 0, 1, 5] {
            gradcheck("matrix_power", std::slice::from_ref(&a), false, &|x| {
                // The zeroth power knows nothing of its matrix.
                Ok(vec![x[0].matrix_power(power)?, x[0].clone()])
            });
        }
    }
}

#[test]
fn norms() {
    for dtype in FIELDS {
        let a = noise(&[2, 3, 4], dtype, 9);
        for order in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
            gradcheck("vector_norm", std::slice::from_ref(&a), order != 0.0, &|x| {
                let all = x[0].vector_norm(order, None, false, None)?;
                Ok(vec![x[0].vector_norm(order, Some(&[0, -1]), true, None)?, all])
            });
        }
        let inf = f64::INFINITY;
        for order in [1.0, -1.0, 2.0, -2.0, inf, -inf]
            .map(NormOrder::Number)
            .into_iter()
            .chain([NormOrder::Fro, NormOrder::Nuc])
        {
            for (dims, keep) in [([-2, -1], false), ([2, 0], true), ([0, 1], false)] {
                gradcheck("matrix_norm", std::slice::from_ref(&a), false, &|x| {
                    Ok(vec![x[0].matrix_norm(order, &dims, keep, None)?])
                });
            }
        }
        let square = noise(&[2, 3, 3], dtype, 10);
        for order in [
            None,
            Some(NormOrder::Number(-2.0)),
            Some(NormOrder::Number(1.0)),
            Some(NormOrder::Fro),
        ] {
            gradcheck("cond", std::slice::from_ref(&square), false, &|x| {
                Ok(vec![x[0].cond(order)?])
            });
        }
    }
    let zeros = Tensor::zeros(&[3], DType::F64, crate::Device::Cpu).unwrap();
    zeros.set_requires_grad(true).unwrap();
    let norm = zeros.norm(NormOrder::Fro, None, false, None).unwrap();
    let slope = grad(&[norm], std::slice::from_ref(&zeros), &[None], false, false)
        .unwrap()
        .remove(0)
        .unwrap();
    assert_eq!(slope.to_vec::<f64>().unwrap(), [0.0; 3]);
    let singular = Tensor::from_vec(vec![1.0f64, 2.0, 2.0, 4.0], &[2, 2]).unwrap();
    assert_eq!(
        singular.cond(Some(NormOrder::Number(1.0))).unwrap().to_vec::<f64>().unwrap(),
        [f64::INFINITY]
    );
    assert_eq!(singular.matrix_rank(None, None, false).unwrap().to_vec::<i64>().unwrap(), [1]);
}

#[test]
fn products_and_shapes() {
    let x = noise(&[2, 3], DType::F64, 11);
    let other = noise(&[2, 3], DType::F64, 12);
    gradcheck("cross", &[x.clone(), other], true, &|x| Ok(vec![x[0].cross(&x[1], -1)?]));
    gradcheck("vander", std::slice::from_ref(&x), true, &|x| Ok(vec![x[0].vander(Some(4))?]));
    gradcheck("diag_embed", std::slice::from_ref(&x), false, &|x| {
        Ok(vec![x[0].diag_embed(-1, 0, -1)?])
    });
    let embedded = x.diag_embed(1, 0, 2).unwrap();
    assert_eq!(embedded.shape().as_slice(), [4, 2, 4]);
    close(&embedded.diagonal(1, 0, 2).unwrap(), &x);
    let chain =
        [noise(&[3], DType::F64, 1), noise(&[3, 2], DType::F64, 2), noise(&[2, 4], DType::F64, 3)];
    gradcheck("multi_dot", &chain, false, &|x| Ok(vec![Tensor::multi_dot(x)?]));
    let block = noise(&[2, 3, 6], DType::F64, 13);
    let inverse = block.tensorinv(2).unwrap();
    assert_eq!(inverse.shape().as_slice(), [6, 2, 3]);
    let b = noise(&[2, 3], DType::F64, 14);
    close(&block.tensorsolve(&b, None).unwrap(), &inverse.tensordot(&b, &[1, 2], &[0, 1]).unwrap());
}

#[test]
fn nothing_at_all() {
    for shape in [[0, 3, 3], [2, 0, 0]] {
        let a = Tensor::zeros(&shape, DType::F64, crate::Device::Cpu).unwrap();
        a.set_requires_grad(true).unwrap();
        let all: Vec<Tensor> = vec![
            a.inv().unwrap(),
            a.det().unwrap(),
            a.slogdet().unwrap().1,
            a.cholesky(false).unwrap(),
            a.lu().unwrap().2,
            a.qr(QrMode::Reduced).unwrap().1,
            a.svd(true).unwrap().1,
            a.svdvals().unwrap(),
            a.eigh(true).unwrap().0,
            a.eig().unwrap().0.real().unwrap(),
            a.pinv(None, None, false).unwrap(),
            a.matrix_exp().unwrap(),
            a.solve(&a, true).unwrap(),
        ];
        for out in all {
            let sum = out.sum(None, false).unwrap();
            grad(&[sum], std::slice::from_ref(&a), &[None], false, false).unwrap();
        }
        let _off = ModeGuard::grad(false);
        assert_eq!(a.matrix_rank(None, None, false).unwrap().shape().as_slice(), &shape[..1]);
    }
}

#[test]
fn faults_speak_plainly() {
    let singular = Tensor::from_vec(vec![1.0f32, 2.0, 2.0, 4.0], &[2, 2]).unwrap();
    let fault = singular.inv().unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::LinAlg);
    assert_eq!(
        fault.message(),
        "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the \
         input matrix is singular."
    );
    let batch = singular.expand(&[2, 2, 2]).unwrap();
    let fault = batch.solve(&batch, true).unwrap_err();
    assert_eq!(
        fault.message(),
        "linalg.solve: (Batch element 0): The solver failed because the input matrix is singular."
    );
    let negative = singular.mul_scalar(Scalar::Int(-1)).unwrap().cholesky(false).unwrap_err();
    assert!(negative.message().contains("the leading minor of order 1 is not positive-definite"));
    let wide = noise(&[3, 4], DType::F32, 1).inv().unwrap_err();
    assert_eq!(
        wide.message(),
        "linalg.inv: A must be batches of square matrices, but they are 3 by 4 matrices"
    );
    let whole = Tensor::from_vec(vec![1i64], &[1, 1]).unwrap().det().unwrap_err();
    assert_eq!(
        whole.message(),
        "linalg.det: Expected a floating point or complex tensor as input. Got int64"
    );
    assert!(noise(&[2, 2], DType::F16, 1).det().unwrap_err().message().contains("Low precision"));
}
