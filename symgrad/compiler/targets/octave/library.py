"""Functions that go into files for Octave and MATLAB: what those have not, or do otherwise than NumPy."""

from __future__ import annotations

LIBRARY = {
    # ------------------------------------------------------------------------------------ entry by entry
    "reals": """% Entries beyond the domain of a function of real numbers are NaN.
function y = reals(y)
    if ~isreal(y)
        beyond = imag(y) ~= 0;
        y = real(y);
        y(beyond) = NaN;
    end
end""",
    "choose": """% Entries of a where c holds, else those of b.
function y = choose(c, a, b)
    c = c ~= 0;
    like = ones(size(c + a + b));
    y = b .* like;
    if isa(a, 'single')
        y = single(y);
    end
    a = a .* like;
    c = c & true(size(like));
    y(c) = a(c);
end""",
    "power_of": """% Powers of real numbers; NaN for a negative one to a power that is not whole.
function z = power_of(x, y)
    if all(x(:) >= 0) || (isscalar(y) && y == fix(y))
        z = x .^ y;
        return
    end
    z = abs(x) .^ y;
    below = (x < 0) & true(size(z));
    y = y .* ones(size(z));
    odd = below & (abs(y) < 9007199254740992) & (mod(y, 2) == 1);
    z(odd) = -z(odd);
    z(below & (y ~= fix(y)) & ~isinf(x .* ones(size(z)))) = NaN;
end""",
    "nearest": """% The nearest whole number, the even one of two.
function y = nearest(x)
    y = round(x);
    half = abs(x - fix(x)) == 0.5;
    y(half) = 2 * round(x(half) / 2);
end""",
    "exp2": """function y = exp2(x)
    y = 2 .^ x;
end""",
    "gamma_of": """function y = gamma_of(x)
    y = gamma(x);
    y(x < 0 & x == fix(x)) = NaN;
end""",
    "log_abs_gamma": """function y = log_abs_gamma(x)
    y = real(gammaln(x));
end""",
    "sign_of": """function y = sign_of(x)
    y = sign(x);
    y(isnan(x)) = 0;
end""",
    "cube_root": """function y = cube_root(x)
    y = sign(x) .* abs(x) .^ (1 / 3);
    finite = y ~= 0 & ~isinf(y);
    y(finite) = y(finite) - (y(finite) .^ 3 - x(finite)) ./ (3 * y(finite) .^ 2);
end""",
    "sigmoid": """function y = sigmoid(x)
    e = exp(-abs(x));
    y = choose(x >= 0, 1 ./ (1 + e), e ./ (1 + e));
end""",
    "softplus": """function y = softplus(x)
    y = maximum(x, 0) + log1p(exp(-abs(x)));
end""",
    "maximum": """% The larger of two; NaN where one is.
function z = maximum(x, y)
    z = max(x, y);
    z(isnan(x) | isnan(y)) = NaN;
end""",
    "minimum": """% The smaller of two; NaN where one is.
function z = minimum(x, y)
    z = min(x, y);
    z(isnan(x) | isnan(y)) = NaN;
end""",
    "logaddexp": """function z = logaddexp(x, y)
    z = maximum(x, y) + log1p(exp(-abs(x - y)));
    same = (x == y) & true(size(z));
    x = x .* ones(size(z));
    z(same) = x(same) + log(2);
end""",
    "weighed": """% The product with a matrix w along axis k; a weight of 0 keeps out what is not finite.
function y = weighed(x, w, k)
    r = max(ndims(x), k);
    s = [size(x), ones(1, r - ndims(x))];
    order = [k, 1:k - 1, k + 1:r];
    a = reshape(permute(x, order), s(k), []);
    lost = ~isfinite(a);
    b = a;
    b(lost) = 0;
    y = double(w) * double(b);
    for j = find(any(lost, 2)).'
        for i = find(w(:, j)).'
            y(i, lost(j, :)) = y(i, lost(j, :)) + double(a(j, lost(j, :))) * double(w(i, j));
        end
    end
    y = ipermute(reshape(y, [size(w, 1), s(order(2:end)), 1]), order);
    if isa(x, 'single')
        y = single(y);
    end
end""",
    "xlogy": """function z = xlogy(x, y)
    z = choose(x == 0 & ~isnan(y), 0, x .* reals(log(y)));
end""",
    "xlog1py": """function z = xlog1py(x, y)
    z = choose(x == 0 & ~isnan(y), 0, x .* reals(log1p(y)));
end""",
    "sinc": """function y = sinc(x)
    whole = round(x);
    sine = (1 - 2 * mod(whole, 2)) .* sin(pi * (x - whole));
    sine(x == whole) = sin(pi * x(x == whole));
    y = sine ./ (pi * x);
    y(x == 0) = 1;
end""",
    "dsinc": """% The derivative of sinc, by its series near 0.
function y = dsinc(x)
    t = pi * x;
    whole = round(x);
    far = pi * (1 - 2 * mod(whole, 2)) .* (cos(pi * (x - whole)) - sin(pi * (x - whole)) ./ t) ./ t;
    series = ones(size(x));
    for k = 24:-2:2
        series = 1 - t .^ 2 / (k * (k + 3)) .* series;
    end
    y = choose(abs(t) >= 2, far, -pi * t / 3 .* series);
end""",
    "heaviside": """function z = heaviside(x, y)
    z = choose(x == 0, y, choose(isnan(x), x, x > 0));
end""",
    "div_trunc": """function z = div_trunc(x, y)
    z = fix(x ./ y);
end""",
    "below_zero": """% Whether the sign is set, which zeros have, too.
function y = below_zero(x)
    y = x < 0 | 1 ./ x == -Inf;
end""",
    "nextafter": """% The next number after x towards y, by the order of the bits.
function z = nextafter(x, y)
    if isa(x, 'single') && isa(y, 'single')
        whole = 'int32';
    else
        whole = 'int64';
        x = double(x);
        y = double(y);
    end
    z = x + 0 * y;
    x = x .* ones(size(z));
    y = y .* ones(size(z));
    bits = typecast(x(:).', whole);
    bits = bits + (1 - 2 * cast((abs(x(:).') > abs(y(:).')) | (x(:).' .* y(:).' < 0), whole));
    moved = reshape(typecast(bits, class(x)), size(z));
    least = typecast(cast(1, whole), class(x));
    moved(x == 0) = least * sign(y(x == 0));
    keep = x == y | isnan(z);
    moved(keep) = y(keep);
    moved(isnan(x) | isnan(y)) = NaN;
    z = moved;
end""",
    "logaddexp2": """function z = logaddexp2(x, y)
    z = maximum(x, y) + log1p(2 .^ -abs(x - y)) / log(2);
    same = (x == y) & true(size(z));
    x = x .* ones(size(z));
    z(same) = x(same) + 1;
end""",
    "bits_and": """function z = bits_and(x, y)
    one = ones(size(x + y));
    z = double(bitand(int64(x .* one), int64(y .* one)));
end""",
    "bits_or": """function z = bits_or(x, y)
    one = ones(size(x + y));
    z = double(bitor(int64(x .* one), int64(y .* one)));
end""",
    "bits_xor": """function z = bits_xor(x, y)
    one = ones(size(x + y));
    z = double(bitxor(int64(x .* one), int64(y .* one)));
end""",
    "bits_not": """function z = bits_not(x)
    z = -1 - x;
end""",
    "bits_up": """% Places y up; 0 where that is a negative number of places, or more than there are.
function z = bits_up(x, y)
    z = choose(y < 0 | y > 63, 0, x .* 2 .^ y);
end""",
    "bits_down": """% Places y down; the sign alone where that is a negative number of places, or more than there are.
function z = bits_down(x, y)
    z = floor(x ./ 2 .^ choose(y < 0 | y > 63, 63, y));
end""",
    "common_divisor": """function z = common_divisor(x, y)
    one = ones(size(x + y));
    z = abs(gcd(x .* one, y .* one));
end""",
    "common_multiple": """function z = common_multiple(x, y)
    one = ones(size(x + y));
    z = choose(x == 0 | y == 0, 0, abs(lcm(x .* one, y .* one)));
end""",
    "floor_mod": """function z = floor_mod(x, y)
    z = choose(y == 0, NaN, mod(x, y));
end""",
    "floor_divide": """function z = floor_divide(x, y)
    rest = rem(x, y);
    z = (x - rest) ./ y;
    z = floor(z - (rest ~= 0 & (rest < 0) ~= (y < 0)) + 0.5);
    z = choose(y == 0, x ./ y, z);
end""",
    "phase": """% The number of absolute value 1 in the direction of each; 0 for 0.
function y = phase(x)
    y = x ./ abs(x);
    y(x == 0) = 0;
end""",
    "copysign": """function z = copysign(x, y)
    below = y < 0 | 1 ./ y == -Inf;
    z = abs(x) .* (1 - 2 * below);
end""",
    # ------------------------------------------------------------------------------------ axes
    "rows": """% The entries of x, whose r axes are read row by row, in another shape.
function y = rows(x, r, dims)
    if r > 1
        x = permute(x, r:-1:1);
    end
    if numel(dims) < 2
        y = reshape(x, [dims, ones(1, 2 - numel(dims))]);
    else
        y = permute(reshape(x, fliplr(dims)), numel(dims):-1:1);
    end
end""",
    "contracted": """% Sums over nk axes: a has ni + nk + nb axes, b has nk + nj + nb, and the result ni + nj + nb.
function y = contracted(a, b, ni, nk, nj, nb)
    left = lengths(a, ni + nk + nb);
    right = lengths(b, nk + nj + nb);
    pages = left(ni + nk + 1:end);
    m = prod(left(1:ni));
    k = prod(left(ni + 1:ni + nk));
    n = prod(right(nk + 1:nk + nj));
    a = reshape(a, [m, k, prod(pages)]);
    b = reshape(b, [k, n, prod(pages)]);
    y = zeros([m, n, prod(pages)]);
    for p = 1:prod(pages)
        y(:, :, p) = double(a(:, :, p)) * double(b(:, :, p));
    end
    y = reshape(y, [left(1:ni), right(nk + 1:nk + nj), pages, 1, 1]);
    if isa(a, 'single') || isa(b, 'single')
        y = single(y);
    end
end""",
    "lengths": """% The sizes of the first n axes.
function s = lengths(x, n)
    s = size(x);
    s = [s, ones(1, n - numel(s))];
    s = s(1:n);
end""",
    "on_diagonal": """% What has equal sizes n along two axes, with zeros but where the places there are equal.
function y = on_diagonal(x, first, second, n)
    dims = ones(1, max([first, second, ndims(x)]));
    dims(first) = n;
    along = reshape(1:n, [dims, 1]);
    dims(first) = 1;
    dims(second) = n;
    across = reshape(1:n, [dims, 1]);
    keep = along == across;
    y = x .* ones(size(keep));
    y(~(keep & true(size(y)))) = 0;
end""",
    "diagonal_of": """% The entries whose places along two axes are equal; the diagonal is the first axis.
function y = diagonal_of(x, first, second)
    n = max([ndims(x), first, second]);
    others = setdiff(1:n, [first, second]);
    s = lengths(x, n);
    x = reshape(permute(x, [first, second, others]), s(first) * s(second), prod(s(others)));
    y = reshape(x(1:s(first) + 1:end, :), [s(first), s(others), 1]);
end""",
    "largest": """% The largest entries along an axis; NaN where one is.
function y = largest(x, axis)
    y = max(x, [], axis);
    if isfloat(x)
        y(any(isnan(x), axis)) = NaN;
    end
end""",
    "smallest": """% The smallest entries along an axis; NaN where one is.
function y = smallest(x, axis)
    y = min(x, [], axis);
    if isfloat(x)
        y(any(isnan(x), axis)) = NaN;
    end
end""",
    "place_of_largest": """% The first place of the largest entry along an axis, from 0; that of a NaN, if there is one.
function k = place_of_largest(x, axis)
    [~, k] = max(x, [], axis);
    [found, other] = max(isnan(x), [], axis);
    found = logical(found);
    k(found) = other(found);
    k = k - 1;
end""",
    "place_in_pool": """% The same, but that of the last NaN.
function k = place_in_pool(x, axis)
    k = place_of_largest(x, axis);
    [found, other] = max(flip(isnan(x), axis), [], axis);
    found = logical(found);
    k(found) = size(x, axis) - other(found);
end""",
    "order_of": """% The places, from 0, in the order of the entries along an axis; NaN counts as largest.
function k = order_of(x, axis, way)
    [~, k] = sort(x, axis, way);
    k = k - 1;
end""",
    "products_of_others": """% For every entry, the product of the others along an axis.
function y = products_of_others(x, axis)
    n = size(x, axis);
    order = [axis, setdiff(1:max(ndims(x), axis), axis)];
    x = permute(x, order);
    s = size(x);
    x = reshape(x, n, prod(s(2:end)));
    one = ones(1, size(x, 2));
    if n > 0
        left = cumprod([one; x(1:n - 1, :)], 1);
        right = flip(cumprod([one; flip(x(2:n, :), 1)], 1), 1);
        x = left .* right;
    end
    y = ipermute(reshape(x, s), order);
end""",
    # ------------------------------------------------------------------------------------ places
    "places": """% Places from 0, negative ones from the end, as places from 1 in an axis of n entries.
function p = places(p, n)
    p = double(p);
    if any(p(:) < -n | p(:) >= n)
        error('a place is outside of an axis of %d entries', n);
    end
    p(p < 0) = p(p < 0) + n;
    p = p + 1;
end""",
    "linear": """% The places in memory of what arrays of places, one for each axis, point to.
function p = linear(dims, parts)
    p = 1;
    by = 1;
    for k = 1:numel(parts)
        p = p + by * (places(parts{k}, dims(k)) - 1);
        by = by * dims(k);
    end
end""",
    "searchsorted": """% How many of the ascending values stand before each entry of x; right: also those equal to it.
function k = searchsorted(values, x, right)
    n = numel(values);
    m = numel(x);
    if right
        [~, order] = sort([values(:); x(:)]);
    else
        [~, order] = sort([x(:); values(:)]);
    end
    place(order) = 1:n + m;
    [~, order] = sort(x(:));
    before(order) = 0:m - 1;
    k = zeros(size(x));
    k(:) = place((1:m) + n * right) - 1 - before;
end""",
    "picked": """% The entries that arrays of places, one for each axis, point to.
function y = picked(x, varargin)
    p = linear(lengths(x, numel(varargin)), varargin);
    y = reshape(x(p), size(p));
end""",
    "put_picked": """% Zeros, to which g is added at the places that arrays, one for each axis, point to.
function y = put_picked(g, dims, varargin)
    p = linear(dims, varargin);
    y = added(p, g .* ones(size(p)), dims);
end""",
    "added": """% Zeros, to which g is added at places in memory.
function y = added(p, g, dims)
    s = [dims, ones(1, 2 - numel(dims))];
    y = zeros(s);
    if ~isempty(p)
        y = reshape(accumarray(p(:), double(g(:)), [prod(s), 1]), s);
    end
    if isa(g, 'single')
        y = single(y);
    end
end""",
    "lines": """% The places in memory of what an array of places along one axis points to, line by line.
function p = lines(index, axis, dims)
    p = 1;
    by = 1;
    for k = 1:numel(dims)
        if k == axis
            part = places(index, dims(k)) - 1;
        else
            part = reshape(0:size(index, k) - 1, [ones(1, k - 1), size(index, k), 1]);
        end
        p = p + by * part;
        by = by * dims(k);
    end
end""",
    "gathered": """% Entries along an axis that an array of places picks, line by line.
function y = gathered(x, index, axis)
    p = lines(index, axis, lengths(x, max([ndims(x), ndims(index), axis])));
    y = reshape(x(p), size(p));
end""",
    "scattered": """% Zeros, to which g is added along an axis at the places of an array, line by line.
function y = scattered(g, index, axis, dims)
    p = lines(index, axis, dims);
    y = added(p, g(1:numel(p)), dims);
end""",
    "put": """% Zeros with g in the ranges that are given for every axis.
function y = put(g, dims, varargin)
    y = zeros([dims, ones(1, 2 - numel(dims))]);
    if ~isempty(g)
        y(varargin{:}) = g;
    end
    if isa(g, 'single')
        y = single(y);
    end
end""",
    "assigned": """% x with other values in the ranges that are given for every axis.
function x = assigned(x, value, varargin)
    x(varargin{:}) = value;
end""",
    "put_rows": """% Zeros, to which g is added at the places of an array along one axis.
function y = put_rows(g, index, axis, dims)
    n = numel(dims);
    others = dims([1:axis - 1, axis + 1:n]);
    order = [axis, 1:axis - 1, axis + 1:max(n, 2)];
    g = permute(reshape(g, [dims(1:axis - 1), numel(index), dims(axis + 1:n), 1]), order);
    g = reshape(g, numel(index), prod(others));
    p = places(index(:), dims(axis));
    y = full(sparse(p, 1:numel(p), 1, dims(axis), numel(p)) * double(g));
    y = ipermute(reshape(y, [dims(axis), others, 1]), order);
    if isa(g, 'single')
        y = single(y);
    end
end""",
    "one_hot": """% A new last axis of n entries with 1 at the place.
function y = one_hot(index, n, axis)
    y = double(places(index, n) == reshape(1:n, [ones(1, axis - 1), n, 1]));
end""",
    "padded": """% A border of a value: before and after every axis.
function y = padded(x, before, after, value)
    s = lengths(x, numel(before));
    dims = before + s + after;
    y = value * ones([dims, ones(1, 2 - numel(dims))]);
    parts = cell(1, numel(before));
    for k = 1:numel(before)
        parts{k} = before(k) + (1:s(k));
    end
    if ~isempty(x)
        y(parts{:}, 1) = x;
    end
    if isa(x, 'single')
        y = single(y);
    end
end""",
    "windows": """% Windows along an axis, inside a new axis at the end.
function y = windows(x, axis, count, n, step, dilation, last)
    p = step * (0:count - 1).' + dilation * (0:n - 1) + 1;
    parts = repmat({':'}, 1, last - 1);
    parts{axis} = p(:);
    s = lengths(x, last - 1);
    y = reshape(x(parts{:}), [s(1:axis - 1), count, n, s(axis + 1:end), 1]);
    y = permute(y, [1:axis, axis + 2:last, axis + 1]);
end""",
    "windows_sum": """% Windows, inside of the last axis, added back at their places in an axis of n entries.
function y = windows_sum(g, axis, last, step, dilation, n)
    s = lengths(g, last);
    p = step * (0:s(axis) - 1).' + dilation * (0:s(last) - 1);
    g = permute(g, [1:axis, last, axis + 1:last - 1]);
    y = put_rows(g, p, axis, [s(1:axis - 1), n, s(axis + 1:last - 1)]);
end""",
    "crossed": """% Cross products along an axis of three entries.
function y = crossed(a, b, axis)
    y = circshift(a, -1, axis) .* circshift(b, -2, axis) - circshift(a, -2, axis) .* circshift(b, -1, axis);
end""",
    "slice_length": """% How many entries a slice takes of n; NaN stands for an end that is left out.
function count = slice_length(n, start, stop, step)
    low = -(step < 0);
    high = n - (step < 0);
    from = start + n * (start < 0);
    to = stop + n * (stop < 0);
    if isnan(start), from = ifelse(step > 0, low, high); end
    if isnan(stop), to = ifelse(step > 0, high, low); end
    from = min(max(from, low), high);
    to = min(max(to, low), high);
    count = max(0, ceil((to - from) / step));
end""",
    "ifelse": """function y = ifelse(c, a, b)
    y = b;
    if c
        y = a;
    end
end""",
    # ------------------------------------------------------------------------------------ matrices
    "pagewise": """% A function of matrices on a stack of them, whose last two axes are those of the matrices.
function y = pagewise(f, r, varargin)
    if r <= 2
        y = f(varargin{:});
        return
    end
    s = cell(1, numel(varargin));
    for k = 1:numel(varargin)
        s{k} = lengths(varargin{k}, r);
        pages = s{k}(1:r - 2);
        varargin{k} = reshape(permute(varargin{k}, [r - 1, r, 1:r - 2]), s{k}(r - 1), s{k}(r), prod(pages));
    end
    if prod(pages) == 0
        one = cellfun(@(x) eye(size(x, 1), size(x, 2)), varargin, 'UniformOutput', false);
        found = f(one{:});
        y = zeros([size(found), 0]);
    end
    for p = prod(pages):-1:1
        one = cellfun(@(x) x(:, :, p), varargin, 'UniformOutput', false);
        found = f(one{:});
        y(:, :, p) = found;
    end
    y = permute(reshape(y, [size(found), pages]), [3:r, 1, 2]);
end""",
    "solved": """% x of a x = b by Gaussian elimination; an error where a is singular.
function x = solved(a, b)
    [l, u, p] = lu(a);
    if any(diag(u) == 0)
        error('the matrix is singular');
    end
    x = u \\ (l \\ (p * b));
end""",
    "inverse": """function y = inverse(a)
    y = solved(a, eye(size(a, 1)));
end""",
    "triangular": """% x of a x = b for a triangle of a; unit: with ones on its diagonal.
function x = triangular(a, b, upper, unit)
    if upper
        a = triu(a);
    else
        a = tril(a);
    end
    if unit
        a(1:size(a, 1) + 1:end) = 1;
    end
    if any(diag(a) == 0)
        error('the matrix is singular');
    end
    x = a \\ b;
end""",
    "cholesky": """% The lower factor; an error where the matrix, read up to its diagonal, is not positive definite.
function l = cholesky(a)
    a = tril(a);
    l = chol(a + tril(a, -1)')';
end""",
    "log_determinant": """% The logarithm of the determinant; NaN where that is negative.
function y = log_determinant(a)
    [l, u, p] = lu(a);
    d = diag(u);
    y = sum(log(abs(d)));
    turn = prod(sign(d)) * det(p);
    if ~isreal(a)
        y = y + log(turn);
    elseif turn < 0
        y = NaN;
    end
end""",
    "log_abs_determinant": """function y = log_abs_determinant(a)
    [~, u, ~] = lu(a);
    y = sum(log(abs(diag(u))));
end""",
    "sign_of_determinant": """function y = sign_of_determinant(a)
    [~, u, p] = lu(a);
    d = diag(u);
    y = prod(d ./ abs(d)) * det(p);
    if any(d == 0)
        y = 0;
    end
end""",
    "eigenvalues": """% Of the symmetric matrix of which the lower triangle is read, ascending.
function w = eigenvalues(a)
    w = sort(real(eig(mirrored(a))));
end""",
    "eigenvectors": """function v = eigenvectors(a)
    [v, d] = eig(mirrored(a));
    [~, order] = sort(real(diag(d)));
    v = v(:, order);
end""",
    "mirrored": """function a = mirrored(a)
    l = tril(a, -1);
    a = l + l' + diag(real(diag(a)));
end""",
}
"""The text of every function by its name."""
