//! The large building blocks, from faer: one compiled copy per element type, behind a trait so that
//! the generic code around them stays small.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::matmul::matmul_with_conj;
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::linalg::triangular_solve;
use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_complex::Complex;

/// What a triangular matrix looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// Whether the upper triangle is meant; the other one is not read.
    pub upper: bool,
    /// Whether the diagonal counts as ones; it is not read then.
    pub unit: bool,
}

/// Operations on single column-major matrices (any strides where it says so). Those that take no
/// parallelism run on one thread: with more, their rounding would depend on how many there are.
pub trait Engine: Sized {
    #[doc(hidden)]
    type RealPart;

    /// `dst = alpha op(a) op(b)`, or `dst += ..`; any strides, and `op` conjugates or does nothing.
    fn gemm(
        dst: MatMut<'_, Self>,
        accum: Accum,
        a: (MatRef<'_, Self>, Conj),
        b: (MatRef<'_, Self>, Conj),
        alpha: Self,
        par: Par,
    );

    /// Replaces `b` by the solution `x` of `a x = b`; any strides.
    fn solve_triangle(a: MatRef<'_, Self>, kind: Triangle, b: MatMut<'_, Self>, par: Par);

    /// Replaces the lower triangle by its Cholesky factor; or gives the pivot that fails.
    fn cholesky(a: MatMut<'_, Self>, par: Par) -> Result<(), usize>;

    /// Singular values, descending, and the vectors asked for, as columns; whether it converged.
    fn svd(
        a: MatRef<'_, Self>,
        s: &mut [Self],
        u: Option<MatMut<'_, Self>>,
        v: Option<MatMut<'_, Self>>,
    ) -> bool;

    /// Eigenvalues, ascending, of the Hermitian matrix with this lower triangle, and eigenvectors
    /// as columns; whether it converged.
    fn eigh(a: MatRef<'_, Self>, w: &mut [Self], v: Option<MatMut<'_, Self>>) -> bool;

    /// Eigenvalues, and eigenvectors of any length as columns; whether it converged.
    fn eig(
        a: MatRef<'_, Self>,
        w: &mut [Complex<Self::RealPart>],
        v: Option<MatMut<'_, Complex<Self::RealPart>>>,
    ) -> bool;
}

macro_rules! shared {
    () => {
        fn gemm(
            dst: MatMut<'_, Self>,
            accum: Accum,
            a: (MatRef<'_, Self>, Conj),
            b: (MatRef<'_, Self>, Conj),
            alpha: Self,
            par: Par,
        ) {
            matmul_with_conj(dst, accum, a.0, a.1, b.0, b.1, alpha, par);
        }

        fn solve_triangle(a: MatRef<'_, Self>, kind: Triangle, b: MatMut<'_, Self>, par: Par) {
            match (kind.upper, kind.unit) {
                (false, false) => triangular_solve::solve_lower_triangular_in_place(a, b, par),
                (false, true) => triangular_solve::solve_unit_lower_triangular_in_place(a, b, par),
                (true, false) => triangular_solve::solve_upper_triangular_in_place(a, b, par),
                (true, true) => triangular_solve::solve_unit_upper_triangular_in_place(a, b, par),
            }
        }

        fn cholesky(a: MatMut<'_, Self>, par: Par) -> Result<(), usize> {
            let n = a.nrows();
            let need = llt::cholesky_in_place_scratch::<Self>(n, par, Default::default());
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            match llt::cholesky_in_place(a, Default::default(), par, stack, Default::default()) {
                Ok(_) => Ok(()),
                Err(llt::LltError::NonPositivePivot { index }) => Err(index),
            }
        }

        fn svd(
            a: MatRef<'_, Self>,
            s: &mut [Self],
            u: Option<MatMut<'_, Self>>,
            v: Option<MatMut<'_, Self>>,
        ) -> bool {
            let (m, n) = a.shape();
            let wanted = |vectors: &Option<MatMut<'_, Self>>| match vectors {
                None => ComputeSvdVectors::No,
                Some(vectors) if vectors.ncols() == m.min(n) => ComputeSvdVectors::Thin,
                Some(_) => ComputeSvdVectors::Full,
            };
            let (wanted_u, wanted_v) = (wanted(&u), wanted(&v));
            let need =
                svd::svd_scratch::<Self>(m, n, wanted_u, wanted_v, Par::Seq, Default::default());
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            let s = DiagMut::from_slice_mut(s);
            svd::svd(a, s, u, v, Par::Seq, stack, Default::default()).is_ok()
        }

        fn eigh(a: MatRef<'_, Self>, w: &mut [Self], v: Option<MatMut<'_, Self>>) -> bool {
            let wanted = vectors_wanted(v.is_some());
            let need = evd::self_adjoint_evd_scratch::<Self>(
                a.nrows(),
                wanted,
                Par::Seq,
                Default::default(),
            );
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            let w = DiagMut::from_slice_mut(w);
            evd::self_adjoint_evd(a, w, v, Par::Seq, stack, Default::default()).is_ok()
        }
    };
}

fn vectors_wanted(wanted: bool) -> ComputeEigenvectors {
    if wanted { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

macro_rules! engines {
    ($($real:ty),*) => {$(
        impl Engine for $real {
            type RealPart = $real;
            shared!();

            fn eig(
                a: MatRef<'_, $real>,
                w: &mut [Complex<$real>],
                v: Option<MatMut<'_, Complex<$real>>>,
                ) -> bool {
                let n = a.nrows();
                let wanted = vectors_wanted(v.is_some());
                let need = evd::evd_scratch::<$real>(
                    n,
                    ComputeEigenvectors::No,
                    wanted,
                    Par::Seq,
                    Default::default(),
                );
                let mut memory = MemBuffer::new(need);
                let stack = MemStack::new(&mut memory);
                let mut parts = vec![0.0; 2 * n];
                let (re, im) = parts.split_at_mut(n);
                let mut packed = vec![0.0; if v.is_some() { n * n } else { 0 }];
                let columns =
                    v.is_some().then(|| MatMut::from_column_major_slice_mut(&mut packed, n, n));
                let (diag_re, diag_im) = (DiagMut::from_slice_mut(re), DiagMut::from_slice_mut(im));
                let done = evd::evd_real(
                    a, diag_re, diag_im, None, columns, Par::Seq, stack, Default::default(),
                );
                if done.is_err() {
                    return false;
                }
                for (w, (&re, &im)) in w.iter_mut().zip(re.iter().zip(&*im)) {
                    *w = Complex::new(re, im);
                }
                if let Some(mut v) = v {
                    // A pair of conjugate vectors is stored as the real and the imaginary part of
                    // the first.
                    let mut j = 0;
                    while j < n {
                        let column = &packed[j * n..];
                        if im[j] == 0.0 {
                            for i in 0..n {
                                v[(i, j)] = Complex::new(column[i], 0.0);
                            }
                            j += 1;
                        } else {
                            w[j + 1] = w[j].conj();
                            for i in 0..n {
                                let value = Complex::new(column[i], column[n + i]);
                                v[(i, j)] = value;
                                v[(i, j + 1)] = value.conj();
                            }
                            j += 2;
                        }
                    }
                }
                true
            }
        }

        impl Engine for Complex<$real> {
            type RealPart = $real;
            shared!();

            fn eig(
                a: MatRef<'_, Self>,
                w: &mut [Self],
                v: Option<MatMut<'_, Self>>,
                ) -> bool {
                let wanted = vectors_wanted(v.is_some());
                let need = evd::evd_scratch::<Self>(
                    a.nrows(),
                    ComputeEigenvectors::No,
                    wanted,
                    Par::Seq,
                    Default::default(),
                );
                let mut memory = MemBuffer::new(need);
                let stack = MemStack::new(&mut memory);
                let w = DiagMut::from_slice_mut(w);
                evd::evd_cplx(a, w, None, v, Par::Seq, stack, Default::default()).is_ok()
            }
        }
    )*};
}
engines!(f32, f64);
