//! Tables of options that are put together from those of a controller's parts.

use units::parameter::Parameter;

/// The options of a controller and of its parts, one behind the other. `N` is the sum of all lengths; anything else does
/// not compile.
pub(crate) const fn join<const N: usize>(parts: &[&[Parameter]]) -> [Parameter; N] {
    let mut all = [parts[0][0]; N];
    let (mut filled, mut i) = (0, 0);
    while i < parts.len() {
        let mut k = 0;
        while k < parts[i].len() {
            all[filled] = parts[i][k];
            filled += 1;
            k += 1;
        }
        i += 1;
    }
    assert!(filled == N);
    all
}
