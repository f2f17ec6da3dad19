//! Option tables composed of those of a controller's parts.

use units::parameter::Parameter;

/// Concatenates the options of a controller and of its parts. `N` must be the sum of all lengths, or it does not
/// compile.
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
