//! Layers over sequences: recurrent ones, attention.

use wrap_burn::Tensor;
use wrap_burn::ops::attention::{Options, Way};
use wrap_burn::ops::recurrent::{Cell, Layer, Weights};

use crate::args::T;

fn tensor(argument: &Option<T>) -> Option<&Tensor> {
    argument.as_ref().map(|argument| &argument.0)
}

fn layer(cell: &str, batch_sizes: &[usize], reverse: bool) -> wrap_burn::Result<Layer> {
    let cell = match cell {
        "rnn_tanh" => Cell::Tanh,
        "rnn_relu" => Cell::Relu,
        "lstm" => Cell::Lstm,
        "gru" => Cell::Gru,
        other => {
            return Err(wrap_burn::error!(
                Value,
                "recurrent: expected a cell of rnn_tanh, rnn_relu, lstm, gru, got '{other}'"
            ));
        }
    };
    Ok(Layer { cell, batch_sizes: batch_sizes.to_vec(), reverse })
}

/// Biases, which come in pairs.
fn biases<'a>(
    of_x: &'a Option<T>,
    of_h: &'a Option<T>,
) -> wrap_burn::Result<Option<(&'a Tensor, &'a Tensor)>> {
    match (of_x, of_h) {
        (Some(of_x), Some(of_h)) => Ok(Some((&of_x.0, &of_h.0))),
        (None, None) => Ok(None),
        _ => Err(wrap_burn::error!(
            Runtime,
            "recurrent: expected bias_ih and bias_hh to be given both or not at all"
        )),
    }
}

fn way(name: &str) -> wrap_burn::Result<Way> {
    match name {
        "any" => Ok(Way::Any),
        "tiles" => Ok(Way::Tiles),
        "products" => Ok(Way::Products),
        other => Err(wrap_burn::error!(
            Value,
            "scaled_dot_product_attention: expected any, tiles or products, got '{other}'"
        )),
    }
}

native! {
    fn recurrent(
        input, h: T, c: Option<T>, cell: &str, batch_sizes: Vec<usize>, reverse: bool,
        weight_ih: T, weight_hh: T, bias_ih: Option<T>, bias_hh: Option<T>, weight_hr: Option<T>,
    ) -> (Tensor, Tensor, Option<Tensor>) => {
        let weights = Weights {
            ih: &weight_ih.0,
            hh: &weight_hh.0,
            biases: biases(&bias_ih, &bias_hh)?,
            hr: tensor(&weight_hr),
        };
        input.recurrent(&layer(cell, &batch_sizes, reverse)?, &h.0, tensor(&c), weights)
    };
    fn scaled_dot_product_attention(
        query, key: T, value: T, mask: Option<T>, dropout: f64, causal: bool, scale: Option<f64>,
        grouped: bool, name: &str,
    ) -> Tensor => {
        let options = Options { dropout, causal, scale, grouped, way: way(name)? };
        query.scaled_dot_product_attention(&key.0, &value.0, tensor(&mask), options)
    };
}
