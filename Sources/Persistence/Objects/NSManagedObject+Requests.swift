internal import Foundation
internal import ObjectModel

/// Gives classes of objects the request for all of their objects.
///
/// It is a protocol's, so that the `fetchRequest()` of a generated or hand-written class comes
/// first, also where the result's type is not written. Queue: any.
public protocol FetchRequestMaking: NSManagedObject {}

extension NSManagedObject: FetchRequestMaking {}

extension FetchRequestMaking {
    /// A request for all objects of this class's entity, which is found when it is fetched where
    /// no model is loaded yet.
    public static func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        guard let entity = KnownClasses.knownEntity(of: self) else {
            return NSFetchRequest(entityName: KnownClasses.shortName(of: self))
        }
        return NSFetchRequest(entity: entity)
    }
}
