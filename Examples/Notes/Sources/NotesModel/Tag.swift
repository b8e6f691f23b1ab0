import CoreData

/// A tag. The model asks for a category: its properties are generated, the class is written here.
public class Tag: NSManagedObject {
    public var label: String { "#\(name ?? "")" }
}
