"""The templates of the advice, one or several for a cause; lines that begin with four spaces are code to copy."""

# {name}: the variable; {var}: the same as code; {op}: the operation; {line}: the user's statement; {new}: it, mended.
TEXTS = {
    "left-tensorflow": """
Stay in TensorFlow all the way to the loss:
    {new}
What goes through {door} comes back as a constant, and a constant has no gradient.""",
    "left-tensorflow-unknown": """
Stay in TensorFlow all the way to the loss: `tf.` functions in place of `np.`, and no `.numpy()`,
`float()` or `.item()`. What goes through {door} comes back as a constant, and a constant has no
gradient.""",
    "left-tensorflow-pyfunc": """
Write the body of `{body}` with TensorFlow operations, and call it directly:
    {new}
NumPy inside has no gradient. If it has to stay, write its derivative by hand, with
`@tf.custom_gradient`.""",
    "left-tensorflow-pyfunc-unknown": """
Write the body of this Python function with TensorFlow operations, and call it directly. NumPy
inside has no gradient; if it has to stay, write its derivative by hand, with `@tf.custom_gradient`.""",
    "captured-outside": """
Move this line into the function, or the `with tf.GradientTape()` block, that computes the loss:
    {line}
There it is computed anew each time, from the current value of `{name}`, and the tape sees how.""",
    "captured-outside-call": """
Call this inside the function, or the `with tf.GradientTape()` block, that computes the loss. There
it is computed anew each time, from the current value of `{name}`, and the tape sees how.""",
    "captured-outside-attribute": """
This line runs once, when the object is made. Keep what it needs, and compute it in each call,
where you read `{made}` now:
    {local} = {value}""",
    "captured-outside-default": """
A default value is computed once, when the function is defined. Compute it inside the function, anew
in each call:
    {new}""",
    "captured-outside-unknown": """
This line uses {what} that was computed earlier: in `__init__`, say, or at the top of the file. Keep
`{name}` itself, and compute what you need from it here, in each call.""",
    "outside-tape": """
Run this line while the tape is open:
    with tf.GradientTape() as tape:
        ...
        {line}
The tape knows only what runs inside its block.""",
    "outside-tape-call": """
Make the call that leads here inside `with tf.GradientTape() as tape:`. The tape knows only what
runs inside its block.""",
    "outside-tape-target": """
Compute the target inside the block, and ask after it:
    with tf.GradientTape() as {tape}:
        ...
        target = {target}
    {again}
The tape knows only what runs inside its block.""",
    "outside-tape-stopped": """
Take this line out of `with tape.stop_recording():`. What runs in there is no part of the gradient.""",
    "not-watched": """
Tell the tape about it before you use it:
    with tf.GradientTape() as {tape}:
        {tape}.watch({var})
        ...
Only trainable variables are watched without being named; `{name}` is not one.""",
    "not-watched-rebound": """
Keep the variable, and change what it holds; `=` puts a plain tensor in its place:
    variable.assign_sub(rate * gradient)
or let an optimizer do it: `optimizer.apply(gradients, variables)`.""",
    "not-watched-late": """
Move this line up: it has to be the first in the block, before `{name}` is used:
    with tf.GradientTape() as {tape}:
        {tape}.watch({var})
        ...""",
    "not-watched-accessed": """
Tell this tape about it, or open it without `watch_accessed_variables=False`:
    {tape}.watch({var})""",
    "unconnected-target": """
Use `{name}` itself in the line that computes the target. Computing it a second time, in another
call of the model, makes another tensor with the same numbers, and the target hangs on that one.""",
    "unused-variable": """
Use `{name}` on the way to the loss, or leave it out of the list of variables. Nothing that ran
reads it.""",
    "unused-variable-result": """
Use the result in the loss:
    loss = loss + tf.reduce_mean({result})
As it stands, `{result}` goes nowhere. If that is as it should be, leave `{name}` out of the list of
variables.""",
    "unused-variable-dead-end": """
Use the result of this line in the loss, or leave `{name}` out of the list of variables. As it
stands, it goes nowhere.""",
    "untracked-variable": """
Add `{name}` to the list of variables whose gradients you ask for, and hand all of them to the
optimizer.""",
    "untracked-variable-made": """
Make `{name}` once, before the function runs, and hand it to the optimizer with the others:
    variables = [*variables, {var}]
Made inside, it starts again from the same value in each call and never learns.""",
    "untracked-variable-layer": """
Let the layer make `{name}` itself, in `__init__` or `build`, so that its `trainable_variables` hold
it:
    self.{last} = self.add_weight(shape=..., name="{last}")
Keras 3 does not look for a plain `tf.Variable` in a layer, nor for layers inside objects of other
kinds.""",
    "untracked-variable-list": """
Ask for its gradient too, and apply it:
    variables = [*model.trainable_variables, {var}]
The model's own list holds only what its layers made.""",
    "non-trainable": """
Ask only for what learns:
    variables = model.trainable_variables
`trainable=False` keeps `{name}` out. What should learn is made with `trainable=True`.""",
    "assign-state": """
Go on with the new value itself, as a tensor. What is read back from a variable has forgotten how it
was computed; call `assign` only to remember a value for later.""",
    "assign-state-line": """
Go on with the new value itself:
    new = {new}
    {owner}.assign(new)
From here on write `new` where you read `{owner}`. What is read back from a variable has forgotten
how it was computed.""",
    "stop-gradient": """
If `{name}` should learn from this loss, take the stop out: `tf.stop_gradient`, or the detached
branch.""",
    "stop-gradient-line": """
If `{name}` should learn from this loss, take the stop out:
    {new}""",
    "nondiff-op": """
Replace {op} by something with a slope: a softmax-weighted sum for a choice, a sum of sigmoids for a
rank or a count.""",
    "nondiff-op-rounding": """
Let the gradient pass straight through the rounding:
    {new}
The forward pass still rounds; on the way back it counts as if nothing had been rounded.""",
    "nondiff-op-rounding-unknown": """
Let the gradient pass straight through the rounding:
    y = x + tf.stop_gradient(tf.round(x) - x)
The forward pass still rounds; on the way back it counts as if nothing had been rounded.""",
    "nondiff-op-choice": """
Weight all candidates instead of choosing one:
    weights = {weights}
and use a sum with these weights in place of the lookup at `{call}`. The smaller the 0.1, the harder
the choice.""",
    "nondiff-op-choice-lookup": """
Weight all candidates instead of choosing one:
    weights = {weights}
    {new}
The smaller the 0.1, the harder the choice.""",
    "nondiff-op-rank": """
Places in an order jump. Count smoothly how many are smaller:
    gaps = x[..., :, None] - x[..., None, :]
    ranks = tf.reduce_sum(tf.sigmoid(gaps / 0.1), axis=-1) - 0.5
The sorted values themselves, `tf.sort(x)`, do have a gradient.""",
    "nondiff-op-rank-line": """
Places in an order jump. Count smoothly how many are smaller:
    gaps = {gaps}
    {new}
The smaller the 0.1, the closer to whole ranks. These are floats: cast what you compare them with.""",
    "nondiff-op-count": """
A count jumps. Add up sigmoids instead, which count smoothly:
    count = tf.reduce_sum(tf.sigmoid((x - threshold) / 0.1))""",
    "nondiff-op-call": """
{op} has no derivative in TensorFlow. Write it out with operations that have one, or give it a
derivative of your own:
    @tf.custom_gradient
    def smooth(x):
        slope = ...  # the derivative at x
        return {function}(x), lambda upstream: upstream * slope
    {new}""",
    "hard-threshold": """
A yes or no has no slope. Use a smooth step in its place:
    soft = tf.sigmoid((a - b) / 0.1)  # for a > b
The smaller the 0.1, the harder the step.""",
    "hard-threshold-line": """
A yes or no has no slope. Use a smooth step in its place:
    {new}
The smaller the 0.1, the harder the step. The result is a float between 0 and 1.""",
    "hard-threshold-cast": """
A yes or no has no slope. Use a smooth step in its place:
    soft = {soft}
    {new}
If the forward pass has to stay hard, let only the gradient come from the smooth one:
    {hard}""",
    "hard-threshold-where": """
A choice between two has no slope. Blend them:
    soft = {soft}
    {new}
The smaller the 0.1, the harder the step.""",
    "hard-threshold-equal": """
Equal or not has no slope. Use a bump that is 1 where they are equal, in place of `{call}`:
    soft = {soft}
or compare on a scale: a squared difference, a cross-entropy.""",
    "hard-threshold-if": """
The choice of a branch has no slope, whatever is inside. Compute both and blend them:
    soft = tf.sigmoid(... / 0.1)  # near 1 where `{test}`
    result = soft * one + (1.0 - soft) * other""",
    "metric-as-loss": """
Train on a function of this batch alone, from `keras.losses`; a metric reads its result back from
variables of its own.""",
    "metric-as-loss-line": """
Compute the loss from this batch alone, and let the metric only watch:
    {metric}.update_state({given})
    {new}
A metric adds to variables of its own and reads its result back from them.""",
    "metric-as-loss-example": """
Compute the loss from this batch alone, with the loss that goes with the metric, and let the metric
only watch:
    {metric}.update_state({given})
    {new}
A metric adds to variables of its own and reads its result back from them.""",
    "sampling": """
Draw noise that doesn't depend on `{name}`, and shape it afterwards:
    sample = mean + std * tf.random.normal(tf.shape(mean))
If the draw can't be written so, weight the log-probability of what was drawn with how good it was:
`-tf.stop_gradient(reward) * log_prob`.""",
    "sampling-choice": """
Either draw softly, with Gumbel noise, and use the weights in place of the drawn numbers:
    noise = tf.random.uniform(tf.shape({x}), 1e-6, 1.0)
    noise = -tf.math.log(-tf.math.log(noise))
    weights = tf.nn.softmax(({grouped} + noise) / 0.5)
Or keep the draw, and weight the log-probability of what was drawn with how good it was:
    loss = -tf.reduce_mean(tf.stop_gradient(reward) * log_prob)""",
    "int-cast": """
Keep the float. Weight the two neighbouring whole numbers by their distance, and cast only those:
    low = tf.floor(x)
    part = x - low
    value = (1.0 - part) * at(low) + part * at(low + 1.0)""",
    "int-cast-line": """
Keep the float. Weight the two neighbouring whole numbers by their distance:
    low = tf.floor({x})
    part = {grouped} - low
    value = (1.0 - part) * at(low) + part * at(low + 1.0)
where `at(i)` is what you do now with `{call}`, done with `tf.cast(i, tf.int32)`. The gradient
passes through `part`.""",
    "integer-source": """
Make it a float. Nothing of a whole-number type has a gradient:
    {var} = tf.Variable(9.0)  # not 9""",
    "integer-source-line": """
Make it a float. Nothing of a whole-number type has a gradient:
    {new}""",
    "partial-gradient-op": """
{op} has a gradient for its other inputs, not for this one. Write this part with operations that
have one, or give it a derivative of your own with `@tf.custom_gradient`.""",
    "partial-gradient-op-image": """
{op} has a gradient for the image, not for where it is read. Read it with weights of your own, which
fall off with distance:
    # x, y: where to read, in pixels
    rows = tf.nn.relu(1.0 - tf.abs(y[:, None] - tf.range(height)))
    cols = tf.nn.relu(1.0 - tf.abs(x[:, None] - tf.range(width)))
    moved = tf.einsum("ih,jw,bhwc->bijc", rows, cols, image)
with `height` and `width` as floats. (For a rotation, weight the four neighbours of each pixel the
same way.)""",
    "no-registered-gradient": """
TensorFlow can't differentiate {op}. Use another operation for the same thing, or give it a
derivative of your own with `@tf.custom_gradient`.""",
    "no-registered-gradient-call": """
TensorFlow can't differentiate {op}. Use another operation for the same thing, or give it a
derivative of your own:
    @tf.custom_gradient
    def smooth(x):
        slope = ...  # the derivative at x
        return {function}(x), lambda upstream: upstream * slope
    {new}""",
    "no-registered-gradient-factors": """
TensorFlow can't differentiate an LU factorisation. What it is used for has gradients of its own:
    tf.linalg.slogdet({x})[1]      # the log of the determinant's size
    tf.linalg.solve({x}, rhs)      # a system of equations
and so have `tf.linalg.inv`, `tf.linalg.cholesky` and `tf.linalg.qr`.""",
    "custom-gradient": """
Return from the backward function one gradient for each tensor that the function was given, in their
order; if it reads variables, take `variables=None` and return a pair: those gradients, and a list
with one for each of `variables`:
    def backward(upstream, variables=None):
        return upstream * ..., [... for v in variables]""",
    "custom-gradient-keywords": """
Hand the tensors over by position. Given as keywords they don't reach the backward function:
    {new}""",
    "custom-gradient-check": """
Look at the backward function of this `@tf.custom_gradient`: {rule}. Hold it against the slope:
    print(gradlab.gradcheck(function, x))""",
    "zero-gradient-op": """
{op} is flat everywhere. Use a smooth function of the same shape, or let the gradient pass straight
through:
    y = x + tf.stop_gradient(step(x) - x)""",
    "zero-gradient-op-line": """
{op} is flat everywhere. Let the gradient pass straight through:
    {new}
The forward pass stays as it is; on the way back it counts as if the operation weren't there.""",
    "zero-gradient-op-sign": """
A sign is flat everywhere. Let the gradient pass straight through:
    {new}
or use a smooth step:
    {soft}""",
    "zero-clip": """
Outside its limits a clip is flat. Widen the limits, or compute from what comes before the squashing
function (logits), with `tf.math.log_sigmoid` or a cross-entropy with `from_logits=True`.""",
    "zero-clip-line": """
Outside its limits a clip is flat. Clip forwards only, and let the gradient pass:
    {new}
For probabilities it is better not to clip: compute from the logits, with `tf.math.log_sigmoid` or a
cross-entropy with `from_logits=True`.""",
    "zero-saturation": """
Bring the values out of the flat region: smaller weights or inputs at the start, a normalisation
before it, or a function that is not flat there.""",
    "zero-saturation-relu": """
Every unit is at or below zero, where ReLU is flat. Use one that isn't, `activation="leaky_relu"` or
`"softplus"`, or start with a smaller learning rate and biases of zero.""",
    "zero-saturation-relu-line": """
Every value is at or below zero, where ReLU is flat. Use one that isn't (or `tf.nn.softplus`):
    {new}""",
    "zero-saturation-squash": """
The values are so large that {op} is flat to the last digit. Compute the loss from what goes into it
(the logits), with `from_logits=True` or `tf.math.log_sigmoid`; or scale the inputs and weights
down.""",
    "zero-saturation-factor": """
Something multiplies by exactly zero here: weights that begin at zero, a mask, a weight of the loss.
If weights, begin with small random values:
    tf.Variable(tf.random.normal(shape, stddev=0.1))""",
    "zero-saturation-origin": """
This line gives exactly zero everywhere, and `{name}` is multiplied by that, so its gradient is zero
too. See why it is zero: all units dead, weights that begin at zero, a mask, a difference of equals.""",
    "zero-cancellation": """
`{name}` comes in here along several ways, and their gradients add up to zero: moved a little, it
leaves the loss where it is. If one of the ways should count as a constant, put
`tf.stop_gradient(...)` around it; else the loss asks nothing of `{name}`.""",
    "nan-singular-point": """
Keep the values away from the point where the slope is infinite or undefined: a small constant
inside, or a clip before it.""",
    "nan-given-data": """
The numbers were broken before this program began. Look at the data: `np.isnan(x).any()`; drop or fill
what is missing.""",
    "nan-given-variable": """
The weights were broken by an earlier step. Begin again from good ones, and examine the step that breaks
them: `with gradlab.doctor():` around the whole loop.""",
    "nan-singular-point-norm": """
At zero the slope of a norm is 0/0. Put a small constant inside the root:
    {new}""",
    "nan-singular-point-Sqrt": """
At zero the slope of a square root is infinite. Put a small constant inside it, `tf.sqrt(x +
1e-12)`. It may be in a norm or a standard deviation that a library computes for you; then write
that out.""",
    "nan-singular-point-Sqrt-line": """
At zero the slope of a square root is infinite. Put a small constant inside:
    {new}""",
    "nan-singular-point-Log": """
At zero the logarithm is infinite. Keep what goes in above zero, `tf.math.log(tf.maximum(x,
1e-12))`, or compute from logits: `from_logits=True`, `tf.nn.log_softmax`, `tf.math.log_sigmoid`.""",
    "nan-singular-point-Log-line": """
At zero the logarithm is infinite. Keep what goes in above zero:
    {new}
For probabilities it is better to compute from the logits: `tf.nn.log_softmax`,
`tf.math.log_sigmoid`.""",
    "nan-singular-point-Acos-line": """
At 1 and -1 the slope is infinite, and beyond them there is no value. Stay inside:
    {new}""",
    "nan-singular-point-Angle-line": """
Zero has no angle. Keep away from it:
    {new}""",
    "nan-singular-point-RealDiv": """
Something is divided by zero. Add a small constant to what stands below, or use
`tf.math.divide_no_nan(a, b)`.""",
    "nan-singular-point-RealDiv-line": """
Something is divided by zero. This gives 0 there, and a gradient of 0:
    {new}""",
    "nan-singular-point-Pow": """
At zero a power below 1 has an infinite slope, and a negative number has no broken power. Keep the
base above zero: `tf.maximum(x, 1e-12)`.""",
    "nan-singular-point-Pow-line": """
At zero a power below 1 has an infinite slope, and a negative number has no broken power. Keep the
base above zero:
    {new}""",
    "nan-singular-point-Exp-line": """
The exponential of more than 88 is infinite in float32. Hold it back:
    {new}
For a softmax or a sum of exponentials use `tf.nn.softmax` or `tf.reduce_logsumexp`, which never
overflow.""",
    "nan-where": """
Choose before you compute, so that the branch that is left out stays harmless:
    safe = tf.where(ok, x, 1.0)
    y = tf.where(ok, f(safe), 0.0)
A `tf.where` around the result alone doesn't help: it sends 0 back, and 0 times infinity is NaN.""",
    "nan-where-line": """
Choose before you compute, so that the branch that is left out stays harmless (1.0 stands for any
harmless value):
    safe = {safe}
    {new}
A `tf.where` around the result alone doesn't help: it sends 0 back, and 0 times infinity is NaN.""",
    "degenerate-linalg": """
The matrix can't be factored: an inverse needs eigenvalues that are not zero, a Cholesky factor
positive ones. Move them up:
    m = m + 1e-6 * tf.eye(n)""",
    "degenerate-linalg-line": """
The matrix can't be factored: an inverse needs eigenvalues that are not zero, a Cholesky factor
positive ones. Move them up:
    {new}""",
    "degenerate-linalg-spectrum": """
Where two eigen- or singular values are equal, their vectors are not defined, and neither is their
derivative. Use only the values, or a function that needs no vectors: `tf.linalg.slogdet`,
`tf.linalg.solve`, `tf.linalg.inv`. For the nearest rotation, iterate:
    for _ in range(6):
        m = 0.5 * (m + tf.linalg.inv(tf.transpose(m)))""",
    "mixed-precision": """
Compute this part in float32, and cast before the squares, the sums and the loss:
    x = tf.cast(x, tf.float32)
16 bits hold nothing above 65504. If the loss is scaled by hand, use a smaller factor, or let
`keras.mixed_precision.LossScaleOptimizer` find it.""",
    "mixed-precision-line": """
Compute this part in float32:
    {new}
16 bits hold nothing above 65504. What it meets further on has to be float32 too.""",
    "mixed-precision-underflow": """
Scale the loss up before the backward pass, so that small gradients survive 16 bits; `apply` scales
them down again:
    optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer)
    loss = optimizer.scale_loss(loss)""",
    "mixed-precision-renamed": """
In Keras 3 it has another name:
    {new}
Take the gradients of that, and hand them to `optimizer.apply` as they are: it divides by the scale
again.""",
    "mixed-precision-unscaled": """
In Keras 3 this is done by `optimizer.apply`: hand it the gradients of `optimizer.scale_loss(loss)`
as they are.""",
    "second-order-tape": """
Take the first gradient while the outer tape is open:
    with tf.GradientTape() as outer:
        with tf.GradientTape() as {inner}:
            ...
        {asked}
    second = outer.gradient({first}, {var})""",
    "second-order-op": """
{op} has no derivative of its own. Replace the operation on this line by one that can be
differentiated twice, such as those built from `tf.matmul`, `tf.einsum`, `tf.gather` and `tf.repeat`.""",
    "second-order-op-Resize": """
Resizing can be differentiated once only. Enlarge with an operation that can be differentiated twice:
    bigger = tf.repeat(tf.repeat(image, 2, axis=1), 2, axis=2)
To shrink, use `tf.nn.avg_pool2d`. For smooth edges follow either with a convolution.""",
    "second-order-op-Crop": """
Cropping this way can be differentiated once only. Read the pixels with weights of your own:
    # y, x: which rows and columns to read, in pixels
    rows = tf.nn.relu(1.0 - tf.abs(y[:, None] - tf.range(height)))
    cols = tf.nn.relu(1.0 - tf.abs(x[:, None] - tf.range(width)))
    crop = tf.einsum("ih,jw,bhwc->bijc", rows, cols, image)
with `height` and `width` as floats.""",
    "second-order-vanishes": """
The first gradient doesn't change with `{name}`, so its derivative is zero. Use an activation that
bends, such as `tanh`, `softplus` or `swish` instead of ReLU; or leave this term out.""",
    "tape-reuse": """
Ask once for everything, or keep the tape:
    with tf.GradientTape(persistent=True) as tape:
        ...""",
    "tape-reuse-line": """
Ask once for everything:
    {again}
or open the tape with `tf.GradientTape(persistent=True) as {tape}`, and `del {tape}` when you are
done.""",
    "recompute-grad": """
Hand `{name}`, or what depends on it, to the recomputed function as an argument:
    tf.recompute_grad(function)(x, {var})
It sees nothing of what its body reads from outside, `tf.Variable`s aside.""",
    "saved-model": """
Save the hand-written backward rule with the model:
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(model, folder, options=options)
or build the model from its code, and load only the weights.""",
    "also": "If that isn't it: {text}",
}  # fmt: skip
