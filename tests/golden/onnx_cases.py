"""Writes onnx_cases.json: what ONNX's reference evaluator makes of single operators.

    pip install onnx numpy ml_dtypes && python onnx_cases.py

Each case is a call of Cairn with its arguments, its inputs, and the outputs that ONNX gives for the same thing.
"""

import json
import pathlib

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int32": "i32", "int64": "i64", "int8": "i8", "uint8": "u8", "bool": "bool"}
random = np.random.default_rng(7)
cases = []


def numbers(*shape, dtype="float32"):
    """Small numbers with few digits."""
    if dtype.startswith("float"):
        return (random.integers(-64, 64, shape) / 16).astype(dtype)
    low = 0 if dtype == "uint8" else -9
    return random.integers(low, 9, shape).astype(dtype)


def run(op, inputs, outputs=1, opset=21, **attributes):
    """What ONNX computes; an input of None is left out."""
    names = [f"in{i}" if x is not None else "" for i, x in enumerate(inputs)]
    results = [f"out{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    return run_nodes([node], {n: x for n, x in zip(names, inputs) if n}, results, opset)


def run_nodes(nodes, feed, results, opset):
    """The same for several operators, whose inputs are named."""
    kind = lambda x: helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        nodes,
        "case",
        [helper.make_tensor_value_info(n, kind(x), x.shape) for n, x in feed.items()],
        [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in results],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, feed)


def plain(value):
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    digits = 17 if isinstance(value, np.float64) else 9
    value = float(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.{digits}g}")


def tensor(x):
    x = np.asarray(x)
    return {"dtype": NAMES[str(x.dtype)], "shape": list(x.shape), "data": [plain(v) for v in x.reshape(-1)]}


def case(call, inputs, outputs, **arguments):
    cases.append({"call": call, "arguments": arguments, "inputs": [tensor(x) for x in inputs],
                  "outputs": [tensor(x) for x in outputs]})


def transposed(x, w, b, groups, **attributes):
    """ConvTranspose a group at a time: the evaluator of onnx 1.23 fails on most numbers of groups."""
    parts = [run("ConvTranspose", list(part), **attributes)[0]
             for part in zip(np.split(x, groups, 1), np.split(w, groups, 0), np.split(b, groups, 0))]
    return np.concatenate(parts, 1)


def convolutions():
    for spatial, channels, filters, kernel, options in [
        ((9,), 2, 4, (3,), {}),
        ((9,), 4, 6, (3,), dict(stride=[2], padding=[1, 2], groups=2)),
        ((8,), 3, 3, (2,), dict(dilation=[3], groups=3)),
        ((5,), 2, 2, (1,), {}),
        ((1,), 2, 3, (1,), {}),
        ((6, 7), 2, 3, (3, 2), {}),
        ((6, 7), 4, 4, (3, 3), dict(stride=[2, 1], padding=[1, 0, 2, 1], dilation=[1, 2], groups=2)),
        ((5, 5), 3, 6, (3, 3), dict(padding=[1, 1, 1, 1], groups=3)),
        ((1, 4), 2, 2, (1, 1), dict(stride=[1, 3])),
    ]:
        n = len(spatial)
        groups, padding = options.get("groups", 1), options.get("padding", [0] * 2 * n)
        stride, dilation = options.get("stride", [1] * n), options.get("dilation", [1] * n)
        arguments = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
        attributes = dict(strides=stride, pads=padding, dilations=dilation, group=groups)
        x = numbers(2, channels, *spatial)
        w, b = numbers(filters, channels // groups, *kernel), numbers(filters)
        case(f"conv{n}d", [x, w, b], run("Conv", [x, w, b], **attributes), **arguments)
        if padding[0] > kernel[0] or spatial == (1,):
            continue
        w, b = numbers(channels, filters // groups, *kernel), numbers(filters)
        for more in [[s - 1 for s in stride], [0] * n]:
            expected = transposed(x, w, b, groups, output_padding=more, strides=stride, pads=padding,
                                  dilations=dilation)
            case(f"conv_transpose{n}d", [x, w, b], [expected], output_padding=more, **arguments)


def pools():
    for spatial, kernel, options in [
        ((9,), [3], {}),
        ((9,), [2], dict(stride=[2], ceil=True)),
        ((6, 7), [2, 3], dict(stride=[1, 2])),
        ((6, 7), [3, 3], dict(stride=[2, 2], padding=[1, 0, 1, 2])),
        ((7, 6), [3, 2], dict(stride=[2, 3], padding=[0, 1, 1, 0], ceil=True)),
        ((5, 4), [2, 2], dict(stride=[3, 3], padding=[1, 1, 1, 1], ceil=True)),
        ((8, 8), [2, 2], dict(stride=[2, 2], dilation=[3, 2])),
        ((3, 4, 5), [2, 2, 3], dict(stride=[1, 2, 1])),
    ]:
        n = len(spatial)
        stride, padding = options.get("stride", kernel), options.get("padding", [0] * 2 * n)
        dilation, ceil = options.get("dilation", [1] * n), options.get("ceil", False)
        arguments = dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil)
        attributes = dict(kernel_shape=kernel, strides=stride, pads=padding, dilations=dilation, ceil_mode=int(ceil))
        x = numbers(1, 2, *spatial)
        case("max_pool", [x], run("MaxPool", [x], **attributes), **arguments)
        for counted in [False, True]:
            expected = run("AveragePool", [x], count_include_pad=int(counted), **attributes)
            case("avg_pool", [x], expected, count_padding=counted, **arguments)
    x = numbers(1, 2, 5, dtype="int8")
    case("max_pool", [x], run("MaxPool", [x], kernel_shape=[3], strides=[1]), kernel=[3], stride=[1], padding=[0, 0],
         dilation=[1], ceil_mode=False)


def norms():
    for shape in [(2, 4, 5), (1, 4, 3, 2), (3, 4, 1)]:
        x, gamma, beta = numbers(*shape), numbers(4), numbers(4)
        mean, var = numbers(4), np.abs(numbers(4)) + np.float32(0.5)
        case("batch_norm", [x, gamma, beta, mean, var],
             run("BatchNormalization", [x, gamma, beta, mean, var], epsilon=1e-3), eps=1e-3)
        case("group_norm", [x, gamma, beta], run("GroupNormalization", [x, gamma, beta], num_groups=2, epsilon=1e-3),
             groups=2, eps=1e-3)
        case("instance_norm", [x, gamma, beta], run("InstanceNormalization", [x, gamma, beta], epsilon=1e-3), eps=1e-3)


def upsampling():
    for spatial, scale in [((5,), [2]), ((1,), [4]), ((3, 4), [3, 2]), ((2, 3), [1, 5])]:
        x = numbers(2, 2, *spatial)
        scales = np.array([1, 1] + scale, "float32")
        nearest = run("Resize", [x, None, scales], mode="nearest", coordinate_transformation_mode="asymmetric",
                      nearest_mode="floor")
        case("upsample_nearest", [x], nearest, scale=scale)
        linear = run("Resize", [x, None, scales], mode="linear", coordinate_transformation_mode="half_pixel")
        case("upsample_linear", [x], linear, scale=scale)


def elementwise():
    odd = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -0.49999997, 0.0, -0.0, 8388607.5, 8388609, 1e30,
                    -1e30, 1e-30, -1e-30, np.inf, -np.inf, np.nan, 3.3, -3.7], "float32")
    case("round", [odd], run("Round", [odd]))
    case("sign", [odd], run("Sign", [odd]))
    for dtype in ["int8", "uint8", "int32", "int64"]:
        x = numbers(7, dtype=dtype)
        x[0] = np.iinfo(dtype).min
        case("sign", [x], run("Sign", [x]))
    for dtype in ["float32", "int32", "int8"]:
        x, low, high = numbers(9, dtype=dtype), np.array(-2, dtype), np.array(3, dtype)
        case("clamp", [x, low, high], run("Clip", [x, low, high]))
        case("clamp", [x, high, low], run("Clip", [x, high, low]))
    low, high = np.array(-2, "float32"), np.array(3, "float32")
    case("clamp", [odd, low, high], run("Clip", [odd, low, high]))


def reductions():
    nan = numbers(3, 4)
    nan[1, 2] = np.nan
    lowest = numbers(2, 3, dtype="int32")
    lowest[0] = np.iinfo("int32").min
    for x in [numbers(3, 4), numbers(2, 3, 4), nan, numbers(3, 4, dtype="uint8"), numbers(3, 4, dtype="int8"), lowest]:
        for axis in [0, -1]:
            axes = np.array([axis], "int64")
            for keep in [0, 1]:
                case("min_reduce", [x], run("ReduceMin", [x, axes], keepdims=keep), axes=[axis], keepdims=bool(keep))
            if x.dtype == np.float32 or x.dtype == np.int32:
                case("prod", [x], run("ReduceProd", [x, axes], keepdims=1), axes=[axis], keepdims=True)
            if not np.isnan(x.astype(float)).any():
                case("argmin", [x], [run("ArgMin", [x], axis=axis, keepdims=0)[0].astype("int32")], axis=axis)
    empty = np.zeros((2, 0), "float32")
    axes = np.array([1], "int64")
    case("prod", [empty], run("ReduceProd", [empty, axes], keepdims=1), axes=[1], keepdims=True)
    case("min_reduce", [empty], run("ReduceMin", [empty, axes], keepdims=1), axes=[1], keepdims=True)
    ties = np.array([[3, 1, 1, 2], [0, 0, 0, 0]], "float32")
    case("argmin", [ties], [run("ArgMin", [ties], axis=1, keepdims=0)[0].astype("int32")], axis=1)
    for dtype in ["float32", "int32", "float64"]:
        for axis in [0, 1, -1]:
            x = numbers(2, 3, 4, dtype=dtype)
            case("cumsum", [x], run("CumSum", [x, np.array(axis, "int64")]), axis=axis)
    x = np.zeros((2, 0), "float32")
    case("cumsum", [x], run("CumSum", [x, np.array(1, "int64")]), axis=1)


def sorting():
    for dtype in ["float32", "int32", "int64", "uint8"]:
        x = numbers(3, 6, dtype=dtype)
        x[1] = x[1, 0]
        for axis, k in [(1, 6), (-1, 2), (0, 3), (0, 1), (1, 0)]:
            for largest in [True, False]:
                values, indices = run("TopK", [x, np.array([k], "int64")], 2, axis=axis, largest=int(largest))
                # Reversed with its stable ascending order, ONNX's evaluator takes the last of equal elements first;
                # its specification asks for the first.
                order = np.argsort(-x.astype("int64" if dtype != "float32" else dtype) if largest else x, axis=axis,
                                   kind="stable")
                indices = np.take(order, range(k), axis=axis).astype("int32")
                assert (np.take_along_axis(x, indices.astype("int64"), axis) == values).all()
                case("topk", [x], [values, indices], k=k, axis=axis, largest=largest)
    for dtype in ["int32", "int64"]:
        x = numbers(3, 4)
        places = random.integers(0, 3, (2, 4)).astype(dtype)
        case("take_along_axis", [x, places], run("GatherElements", [x, places.astype("int64")], axis=0), axis=0)
        places = random.integers(0, 4, (3, 7)).astype(dtype)
        case("take_along_axis", [x, places], run("GatherElements", [x, places.astype("int64")], axis=1), axis=-1)


def arrangement():
    x = numbers(2, 6, 3)
    for sizes, axis in [([1, 2, 3], 1), ([1, 1], 0), ([0, 3], -1)]:
        outputs = run("Split", [x, np.array(sizes, "int64")], len(sizes), axis=axis)
        case("split", [x], outputs, sizes=sizes, axis=axis)
    case("chunk", [x], run("Split", [x], 3, axis=1, num_outputs=3), parts=3, axis=1)
    case("tile", [x], run("Tile", [x, np.array([1, 2, 3], "int64")]), times=[1, 2, 3])
    case("tile", [x], run("Tile", [x, np.array([2, 0, 1], "int64")]), times=[2, 0, 1])
    thin = numbers(1, 3, 1)
    case("squeeze", [thin], run("Squeeze", [thin, np.array([0], "int64")]), axes=[0])
    case("squeeze", [thin], run("Squeeze", [thin]), axes=[])
    case("squeeze", [thin], run("Squeeze", [thin, np.array([-1, 0], "int64")]), axes=[-1, 0])
    for dtype in ["int32", "int64"]:
        indices = np.array([[0, 3, -1], [-4, 2, 4]], dtype)
        for axis in [-1, 0, 1]:
            depth, values = np.array(4, "int64"), np.array([0, 1], "float32")
            expected = run("OneHot", [np.where(indices == 4, 99, indices), depth, values], axis=axis)
            case("one_hot", [indices], expected, depth=4, axis=axis)


def resizing():
    rounding = {"round_prefer_floor": 0, "round_prefer_ceil": 1, "floor": 2, "ceil": 3}
    for places, mode in enumerate(["half_pixel", "align_corners", "asymmetric"]):
        for shape, size in [((1, 2, 5), [8]), ((1, 1, 8), [3]), ((2, 1, 3, 4), [7, 2]), ((1, 1, 4, 1), [1, 5]),
                            ((1, 1, 6, 6), [3, 12])]:
            x = numbers(*shape)
            sizes = np.array(list(shape[:2]) + size, "int64")
            linear = run("Resize", [x, None, None, sizes], mode="linear", coordinate_transformation_mode=mode)
            case("resize_linear", [x], linear, size=size, places=places)
            for name, number in rounding.items():
                nearest = run("Resize", [x, None, None, sizes], mode="nearest", coordinate_transformation_mode=mode,
                              nearest_mode=name)
                case("resize_nearest", [x], nearest, size=size, places=places, rounding=number)


def stacked(tensors, axis):
    names = [f"in{i}" for i in range(len(tensors))]
    nodes = [helper.make_node("SequenceConstruct", names, ["all"]),
             helper.make_node("ConcatFromSequence", ["all"], ["out0"], axis=axis, new_axis=1)]
    return run_nodes(nodes, dict(zip(names, tensors)), ["out0"], 21)


def gated(op, gate, up, **attributes):
    nodes = [helper.make_node(op, ["in0"], ["gate"], **attributes), helper.make_node("Mul", ["gate", "in1"], ["out0"])]
    return run_nodes(nodes, {"in0": gate, "in1": up}, ["out0"], 24)


def more_elementwise():
    for dtype in ["float64", "float16", ml_dtypes.bfloat16]:
        # Halves, their neighbours, zeros of both signs, and numbers too large for a fraction.
        x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.498, -0.498, 0.502, 0.0, -0.0, 100.5, 101.5, 1023.5, 4096, 60000,
                      np.inf, -np.inf, np.nan, 3.3, -3.7], dtype)
        case("round", [x], run("Round", [x]))
    x = np.array([0.49999999999999994, -0.49999999999999994, 4503599627370495.5, 4503599627370496.0, 1e300], "float64")
    case("round", [x], run("Round", [x]))
    for shape in [(2, 3), (1, 9)]:
        gate, up = 4 * numbers(*shape), numbers(*shape)
        case("swiglu", [gate, up], gated("Swish", gate, up))
        case("geglu", [gate, up], gated("Gelu", gate, up))
        case("silu", [gate], run("Swish", [gate], opset=24))
        case("gelu", [gate], run("Gelu", [gate]))
        case("gelu_tanh", [gate], run("Gelu", [gate], approximate="tanh"))


def more_reductions():
    for shape, axes in [((2, 5), [0]), ((2, 5), [-1]), ((3, 1, 2), [0, 2]), ((2, 0), [1]), ((6, 1), [1])]:
        x = random.integers(0, 4, shape) == 0
        for call, op, x in [("any", "ReduceMax", x), ("all", "ReduceMin", ~x)]:
            for keep in [0, 1]:
                expected = run(op, [x, np.array(axes, "int64")], keepdims=keep)
                case(call, [x], expected, axes=axes, keepdims=bool(keep))


def whole_sorting():
    for dtype in ["float32", "int32", "int64", "uint8", "int8"]:
        x = numbers(4, 5, dtype=dtype)
        x[2] = x[2, 0]
        for axis in [0, 1, -1]:
            for descending in [False, True]:
                size = np.array([x.shape[axis]], "int64")
                values = run("TopK", [x, size], 2, axis=axis, largest=int(descending))[0]
                # Of equal elements the first, as in sorting().
                keys = -x.astype("int64" if dtype != "float32" else dtype) if descending else x
                indices = np.argsort(keys, axis=axis, kind="stable").astype("int32")
                assert (np.take_along_axis(x, indices.astype("int64"), axis) == values).all()
                case("sort", [x], [values, indices], axis=axis, descending=descending)
                case("argsort", [x], [indices], axis=axis, descending=descending)


def more_arrangement():
    x, y, z = numbers(2, 3), numbers(2, 3), numbers(2, 3)
    for axis in [0, 1, 2, -1, -3]:
        case("stack", [x, y, z], stacked([x, y, z], axis), axis=axis)
        case("unsqueeze", [x], run("Unsqueeze", [x, np.array([axis], "int64")]), axis=axis)
    case("stack", [x], stacked([x], 1), axis=1)
    counts = numbers(3, 2, dtype="int64")
    case("stack", [counts, counts], stacked([counts, counts], -1), axis=-1)
    for axis, times in [(0, 3), (1, 2), (-1, 4), (1, 1)]:
        scales = np.ones(2, "float32")
        scales[axis] = times
        expected = run("Resize", [x, None, scales], mode="nearest", coordinate_transformation_mode="asymmetric",
                       nearest_mode="floor")
        case("repeat", [x], expected, times=times, axis=axis)


# New families go to the end: all draw from one sequence of random numbers.
for family in [convolutions, pools, norms, upsampling, elementwise, reductions, sorting, arrangement, resizing,
               more_elementwise, more_reductions, whole_sorting, more_arrangement]:
    family()
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(len(cases), "cases,", path.stat().st_size, "bytes")
