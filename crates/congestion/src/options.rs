//! Tables of options that are put together from those of a controller's parts.

use units::parameter::Parameter;

/// `a` and then `b`: the options of a controller and those of a part of it. `N` is the sum of both lengths; anything else
/// does not compile.
pub(crate) const fn join<const A: usize, const B: usize, const N: usize>(
    a: [Parameter; A],
    b: [Parameter; B],
) -> [Parameter; N] {
    assert!(A + B == N && A > 0);
    let mut all = [a[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < A { a[i] } else { b[i - A] };
        i += 1;
    }
    all
}
