use super::super::linalg::tests::{close, gradcheck, noise};
use crate::{DType, Scalar, Tensor};

/// The definition: a sum over all labels, one product at a time.
fn slow(equation: &str, operands: &[Tensor]) -> Vec<f64> {
    let (left, right) = equation.split_once("->").unwrap();
    let lists: Vec<&str> = left.split(',').collect();
    let mut labels: Vec<char> = right.chars().collect();
    labels.extend(left.chars().filter(|c| c.is_alphabetic()));
    let mut unique: Vec<(char, usize)> = Vec::new();
    for label in labels {
        if unique.iter().all(|(known, _)| *known != label) {
            let size = lists
                .iter()
                .zip(operands)
                .flat_map(|(list, x)| list.chars().zip(x.shape()).collect::<Vec<_>>())
                .filter(|(c, _)| *c == label)
                .map(|(_, size)| size)
                .max()
                .unwrap();
            unique.push((label, size));
        }
    }
    let total: usize = unique.iter().map(|(_, size)| size).product();
    let inner: usize = unique[right.len()..].iter().map(|(_, size)| size).product();
    let data: Vec<Vec<f64>> = operands.iter().map(|x| x.to_vec().unwrap()).collect();
    let mut out = vec![0.0; total / inner];
    for count in 0..total {
        let mut rest = count;
        let mut place = vec![0; unique.len()];
        for (d, (_, size)) in unique.iter().enumerate().rev() {
            place[d] = rest % size;
            rest /= size;
        }
        let mut product = 1.0;
        for ((list, x), data) in lists.iter().zip(operands).zip(&data) {
            let at = list.chars().zip(x.shape()).fold(0, |at, (label, size)| {
                let d = unique.iter().position(|(known, _)| *known == label).unwrap();
                at * size + if size == 1 { 0 } else { place[d] }
            });
            product *= data[at];
        }
        out[count / inner] += product;
    }
    out
}

#[test]
fn equations_mean_their_sums() {
    let cases: [(&str, &[&[usize]]); 14] = [
        ("ij,jk->ik", &[&[2, 3], &[3, 4]]),
        ("bij,bjk->bik", &[&[2, 3, 4], &[2, 4, 2]]),
        ("bij,bjk->ki", &[&[2, 3, 4], &[2, 4, 2]]),
        ("ii->i", &[&[3, 3]]),
        ("ii->", &[&[3, 3]]),
        ("iji->j", &[&[3, 2, 3]]),
        ("ij->ji", &[&[2, 3]]),
        ("ij->", &[&[2, 3]]),
        ("i,j->ij", &[&[2], &[3]]),
        ("i,i->i", &[&[3], &[3]]),
        ("ij,kj,kl->il", &[&[2, 3], &[4, 3], &[4, 2]]),
        ("abc,cd,def,fa->be", &[&[2, 3, 4], &[4, 2], &[2, 3, 2], &[2, 2]]),
        ("ij,jk->ik", &[&[2, 1], &[3, 4]]),
        ("ijk,il->kl", &[&[2, 3, 4], &[2, 5]]),
    ];
    for (equation, shapes) in cases {
        let operands: Vec<Tensor> = shapes
            .iter()
            .enumerate()
            .map(|(at, shape)| noise(shape, DType::F64, at as u64 + 1))
            .collect();
        let found = Tensor::einsum(equation, &operands).unwrap();
        let expected = Tensor::from_vec(slow(equation, &operands), &found.shape()).unwrap();
        close(&found, &expected);
        gradcheck(equation, &operands, true, &|x| Ok(vec![Tensor::einsum(equation, x)?]));
    }
    let (a, b) = (noise(&[5, 2, 3], DType::C128, 1), noise(&[5, 3, 4], DType::C128, 2));
    let product = a.matmul(&b).unwrap();
    for equation in ["...ij,...jk->...ik", " b i j , b j k -> b i k ", "...ij,...jk"] {
        close(&Tensor::einsum(equation, &[a.clone(), b.clone()]).unwrap(), &product);
    }
    gradcheck("complex", &[a.clone(), b], false, &|x| Ok(vec![Tensor::einsum("bij,bjk->ik", x)?]));
    close(
        &Tensor::einsum("b...->...", std::slice::from_ref(&a)).unwrap(),
        &a.sum(Some(&[0]), false).unwrap(),
    );
}

#[test]
fn wrong_equations_are_named() {
    let x = noise(&[2, 3], DType::F64, 1);
    let fault = |equation: &str| {
        Tensor::einsum(equation, std::slice::from_ref(&x)).unwrap_err().message().to_string()
    };
    assert_eq!(
        fault("i,j->ij"),
        "einsum(): fewer operands were provided than specified in the equation"
    );
    assert!(fault("ijk->i").contains("does not match the number of dimensions (2) for operand 0"));
    assert!(fault("ij->k").contains("output subscript k does not appear"));
    assert!(fault("ij->ii").contains("appears more than once"));
    assert!(fault("ii->i").contains("is repeated for operand 0 but the sizes don't match, 3 != 2"));
    assert!(fault("i.j").contains("not part of any ellipsis"));
    let two = Tensor::einsum("ij,jk->ik", &[x.clone(), x.clone()]).unwrap_err();
    assert!(two.message().contains("do not broadcast"), "{two}");
}

#[test]
fn products() {
    let (a, b) = (noise(&[2, 3, 4], DType::F64, 1), noise(&[4, 3, 5], DType::F64, 2));
    let found = a.tensordot(&b, &[1, 2], &[1, 0]).unwrap();
    close(&found, &Tensor::einsum("ijk,kjl->il", &[a.clone(), b.clone()]).unwrap());
    gradcheck("tensordot", &[a.clone(), b], false, &|x| {
        Ok(vec![x[0].tensordot(&x[1], &[1, 2], &[1, 0])?])
    });
    let kron = noise(&[2, 2], DType::F64, 3).kron(&noise(&[3], DType::F64, 4)).unwrap();
    assert_eq!(kron.shape().as_slice(), [2, 6]);
    let (u, v) = (noise(&[3], DType::C128, 5), noise(&[3], DType::C128, 6));
    close(&u.vdot(&v).unwrap(), &u.conj().unwrap().mul(&v).unwrap().sum(None, false).unwrap());
    let (m, n) = (noise(&[2, 3], DType::F64, 7), noise(&[3, 4], DType::F64, 8));
    let bias = noise(&[4], DType::F64, 9);
    gradcheck("addmm", &[bias.clone(), m.clone(), n.clone()], false, &|x| {
        Ok(vec![x[0].addmm(&x[1], &x[2], Scalar::Float(0.5), Scalar::Float(2.0))?])
    });
    let unused = bias.mul_scalar(f64::NAN).unwrap();
    close(&unused.addmm(&m, &n, Scalar::Int(0), Scalar::Int(1)).unwrap(), &m.mm(&n).unwrap());
    assert!(n.mm(&m).unwrap_err().message().contains("cannot be multiplied (3x4 and 2x3)"));
    assert!(bias.dot(&u).is_err());
}
