/// What tells one state of the rows at a place from any other: between two equal ones nothing was
/// committed there, by whatever process.
struct RowsVersion: Equatable, Sendable {
    /// Which connection counted: the numbers of two say nothing of each other.
    let counter: Int
    let number: Int64
}
