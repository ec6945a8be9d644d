use super::*;
use crate::op::Primitive;
use crate::ops::linalg::tests::{gradcheck, noise};

fn values(x: &Tensor) -> Vec<f64> {
    x.to_vec::<f64>().unwrap()
}

fn close(a: &[f64], b: &[f64], room: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= room * b.abs().max(1.0), "{a} instead of {b}");
    }
}

#[test]
fn gradients_of_first_and_second_order() {
    let x = noise(&[3, 4, 5], DType::F64, 1);
    let affine = |shape: &[usize], salt| noise(shape, DType::F64, salt);
    let inputs = [x.clone(), affine(&[4, 5], 2), affine(&[4, 5], 3)];
    gradcheck("layer_norm", &inputs, true, &|x| {
        Ok(vec![x[0].layer_norm(&[4, 5], Some(&x[1]), Some(&x[2]), 1e-3)?])
    });
    gradcheck("rms_norm", &inputs[..2], true, &|x| {
        Ok(vec![x[0].rms_norm(&[4, 5], Some(&x[1]), Some(1e-3))?])
    });
    let inputs = [x.clone(), affine(&[4], 4), affine(&[4], 5)];
    gradcheck("group_norm", &inputs, true, &|x| {
        Ok(vec![x[0].group_norm(2, Some(&x[1]), Some(&x[2]), 1e-3)?])
    });
    gradcheck("group_norm without a weight", &inputs[..1], true, &|x| {
        Ok(vec![x[0].group_norm(2, None, None, 1e-3)?])
    });
    gradcheck("batch_norm", &inputs, true, &|x| {
        Ok(vec![x[0].batch_norm(None, Some(&x[1]), Some(&x[2]), true, 0.1, 1e-3)?])
    });
    let (mean, variance) = (affine(&[4], 6), affine(&[4], 7).square().unwrap());
    gradcheck("batch_norm in evaluation", &inputs, true, &|x| {
        let running = Running { mean: &mean, variance: &variance };
        Ok(vec![x[0].batch_norm(Some(running), Some(&x[1]), Some(&x[2]), false, 0.1, 1e-3)?])
    });
    gradcheck("instance_norm", &inputs, true, &|x| {
        let running = Running { mean: &mean.deep_copy()?, variance: &variance.deep_copy()? };
        Ok(vec![x[0].instance_norm(Some(running), Some(&x[1]), Some(&x[2]), true, 0.1, 1e-3)?])
    });
}

#[test]
fn both_ways_to_a_gradient_agree() {
    for shape in [&[6, 8][..], &[2, 8, 3], &[2, 8, 5, 7]] {
        let leaf = |shape: &[usize], salt| {
            let x = noise(shape, DType::F64, salt);
            x.set_requires_grad(true).unwrap();
            x
        };
        let inputs = [leaf(shape, 1), leaf(&[8], 2), leaf(&[8], 3)];
        let [x, weight, bias] = &inputs;
        let g = noise(shape, DType::F64, 4);
        let results = [
            x.group_norm(4, Some(weight), Some(bias), 1e-3).unwrap(),
            x.batch_norm(None, Some(weight), Some(bias), true, 0.1, 1e-3).unwrap(),
        ];
        for y in results {
            let ways = [true, false].map(|create| {
                let seeds = [Some(g.clone())];
                crate::autograd::grad(std::slice::from_ref(&y), &inputs, &seeds, true, create)
                    .unwrap()
            });
            for (a, b) in ways[0].iter().zip(&ways[1]) {
                close(&values(a.as_ref().unwrap()), &values(b.as_ref().unwrap()), 1e-12);
            }
        }
    }
}

/// What burn computes, which on the CPU is another way to the same numbers.
fn both(op: &dyn Primitive, inputs: &[&Value]) {
    let metas = op.infer(inputs).unwrap();
    let ours = op.run(inputs, &metas).unwrap();
    let burns = op.run_gpu(inputs, &metas, Device::Cpu).unwrap().unwrap();
    assert_eq!((ours.len(), burns.len()), (metas.len(), metas.len()));
    for (ours, burns) in ours.into_iter().zip(burns) {
        assert_eq!(ours.to_meta(), burns.to_meta());
        let (ours, burns) = (Tensor::from_value(ours), Tensor::from_value(burns));
        close(&values(&burns), &values(&ours), 1e-5);
    }
}

#[test]
fn burn_computes_the_same() {
    let value = |shape: &[usize], salt| noise(shape, DType::F32, salt).value();
    let x = value(&[3, 8, 5], 1);
    let g = value(&[3, 8, 5], 2);
    let (weight, bias) = (value(&[8], 3), value(&[8], 4));
    for (layout, weights) in [
        (NormLayout::Groups(2), vec![8]),
        (NormLayout::Trailing(2), vec![8, 5]),
        (NormLayout::Trailing(1), vec![5]),
    ] {
        for centre in [true, false] {
            let (weight, bias) = (value(&weights, 3), value(&weights, 4));
            let op = NormOp { layout, centre, eps: 1e-3, weight: true, bias: true };
            both(&op, &[&x, &weight, &bias]);
            both(&NormOp { weight: false, ..op }, &[&x, &bias]);
            let (wants_x, wants_weight) = (true, true);
            let op = NormBackwardOp { layout, centre, weight: true, wants_x, wants_weight };
            // The mean and the deviation must be those of the elements for the sums to agree.
            let stats = NormOp { layout, centre, eps: 1e-3, weight: false, bias: false };
            let found = stats.run(&[&x], &stats.infer(&[&x]).unwrap()).unwrap();
            let mut inputs = vec![&g, &x];
            inputs.extend(&found[1..]);
            inputs.push(&weight);
            both(&op, &inputs);
            both(&NormBackwardOp { wants_x: false, ..op }, &inputs);
            inputs.pop();
            both(&NormBackwardOp { weight: false, wants_weight: false, ..op }, &inputs);
        }
    }
    let op = BatchNormOp { eps: 1e-3, weight: true, bias: true, given: false };
    both(&op, &[&x, &weight, &bias]);
    let (mean, variance) = (value(&[8], 5), noise(&[8], DType::F32, 6).square().unwrap().value());
    both(&BatchNormOp { given: true, weight: false, ..op }, &[&x, &bias, &mean, &variance]);
    for own in [true, false] {
        let op = BatchNormBackwardOp { eps: 1e-3, weight: true, own, wants_x: true };
        both(&op, &[&g, &x, &mean, &variance, &weight]);
        let op = BatchNormBackwardOp { weight: false, wants_x: false, ..op };
        both(&op, &[&g, &x, &mean, &variance]);
    }
}

#[test]
fn running_statistics_move_and_serve() {
    let x = noise(&[4, 3, 5], DType::F32, 1);
    let stats = || {
        (Tensor::zeros(&[3], DType::F32, Device::Cpu), Tensor::ones(&[3], DType::F32, Device::Cpu))
    };
    let (mean, variance) = stats();
    let (mean, variance) = (mean.unwrap(), variance.unwrap());
    let running = Running { mean: &mean, variance: &variance };
    x.batch_norm(Some(running), None, None, true, 0.25, 1e-5).unwrap();
    let (own_variance, own_mean) = x.var_mean(Some(&[0, 2]), 1.0, false).unwrap();
    close(&values(&mean), &values(&own_mean.mul_scalar(0.25).unwrap()), 1e-6);
    let wanted = own_variance.mul_scalar(0.25).unwrap().add_scalar(0.75).unwrap();
    close(&values(&variance), &values(&wanted), 1e-6);
    let y = x.batch_norm(Some(running), None, None, false, 0.25, 1e-5).unwrap();
    assert_eq!(y.shape(), x.shape());
    assert!(x.batch_norm(None, None, None, false, 0.25, 1e-5).is_err());
    // Instances move them by the average of theirs.
    let (mean, variance) = stats();
    let (mean, variance) = (mean.unwrap(), variance.unwrap());
    let running = Running { mean: &mean, variance: &variance };
    let y = x.instance_norm(Some(running), None, None, true, 1.0, 1e-5).unwrap();
    let (own_variance, _) = x.var_mean(Some(&[2]), 1.0, false).unwrap();
    close(&values(&variance), &values(&own_variance.mean(Some(&[0]), false).unwrap()), 1e-6);
    let plain = x.instance_norm(None, None, None, true, 1.0, 1e-5).unwrap();
    close(&values(&y), &values(&plain), 1e-6);
}

#[test]
fn halves_and_wrong_calls() {
    let x = noise(&[2, 4, 3], DType::BF16, 1);
    let weight = noise(&[4], DType::F32, 2);
    let y = x.group_norm(2, Some(&weight), None, 1e-5).unwrap();
    assert_eq!(y.dtype(), DType::BF16);
    let wide = x.to_dtype(DType::F32).unwrap().group_norm(2, Some(&weight), None, 1e-5).unwrap();
    close(&values(&y), &values(&wide), 1e-2);
    let message = |result: Result<Tensor>| result.unwrap_err().to_string();
    assert!(message(x.group_norm(3, None, None, 1e-5)).contains("divisible"));
    assert!(message(x.layer_norm(&[4], None, None, 1e-5)).contains("normalized_shape=[4]"));
    let double = noise(&[4], DType::F64, 2);
    assert!(message(x.group_norm(2, Some(&double), None, 1e-5)).contains("dtype"));
    assert!(
        message(x.group_norm(2, None, Some(&noise(&[3], DType::F32, 1)), 1e-5)).contains("bias")
    );
    let whole = x.to_dtype(DType::I32).unwrap();
    assert!(
        message(whole.batch_norm(None, None, None, true, 0.1, 1e-5)).contains("not implemented")
    );
}
