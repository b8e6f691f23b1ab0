internal import Foundation

// Programs' own kinds of stores.
extension NSPersistentStoreCoordinator {
    /// Lets stores of a type be opened as objects of a subclass of `NSAtomicStore` or
    /// `NSIncrementalStore`; nil forgets the type's class. Other classes are refused when a store
    /// is added.
    public class func registerStoreClass(
        _ storeClass: AnyClass?, type: NSPersistentStore.StoreType
    ) {
        StoreRegistry.register(storeClass as? NSPersistentStore.Type, for: type.rawValue)
    }

    /// Lets stores of a type be opened as objects of a program's own class.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        registerStoreClass(storeClass, type: .init(rawValue: storeType))
    }

    /// The types that can be opened, each with its class. Apple's values hold the classes, too.
    public class var registeredStoreTypes: [String: AnyClass] {
        let types = StoreRegistry.types.map { type -> (String, AnyClass) in
            (type, StoreRegistry.storeClass(for: type) ?? NSPersistentStore.self)
        }
        return Dictionary(uniqueKeysWithValues: types)
    }
}
