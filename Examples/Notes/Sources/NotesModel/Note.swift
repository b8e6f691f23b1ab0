import CoreData
import Foundation

/// A note, written by hand as on Apple's systems.
public class Note: NSManagedObject {
    public enum Priority: Int16 {
        case low, normal, high
    }

    @NSManaged public var title: String?
    @NSManaged public var text: String?
    @NSManaged public var created: Date?
    @NSManaged public var isPinned: Bool
    @NSManaged public var priority: Priority
    @NSManaged public var rating: NSDecimalNumber?
    @NSManaged public var folder: Folder?
    @NSManaged public var tags: Set<Tag>

    @NSManaged private var primitiveTitle: String?

    /// Sets the title as the store would, without marking the note as changed.
    public func correctTitle(to title: String) { primitiveTitle = title }
}

extension Note {
    @NSManaged public func addToTags(_ value: Tag)
    @NSManaged public func removeFromTags(_ value: Tag)
}
