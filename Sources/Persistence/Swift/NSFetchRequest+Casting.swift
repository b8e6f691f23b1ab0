internal import Foundation
internal import ObjectModel

// Swift's generic classes cannot be cast from one result type to another, as Apple's can.
extension NSFetchRequest {
    /// A request with the same choices whose results are of type `Result`.
    ///
    /// It stands for `request as! NSFetchRequest<Result>`, which works on Apple's platforms only.
    /// Later changes of one do not show in the other. A fetch whose results are of another type
    /// throws.
    public func returning<Result>(_: Result.Type = Result.self) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>()
        request.choice = choice
        request.affectedStores = affectedStores
        return request
    }
}
