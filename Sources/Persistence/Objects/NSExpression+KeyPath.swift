public import Foundation
internal import ObjectModel
public import Predicates

// Expressions, predicates and sort descriptors from Swift key paths and `#Predicate`.

extension Predicates.NSExpression {
    /// The property at a Swift key path, by its name in the model.
    ///
    /// Traps where no loaded model has the property: make the container first, or write
    /// `forKeyPath: "name"`. Source: Apple, NSExpression.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        guard let name = KeyPathNaming.name(of: keyPath) else {
            ProgrammingMistake.unnamedKeyPath(Root.self, Value.self)
        }
        self.init(forKeyPath: name)
    }
}

/// Gives Foundation's `NSPredicate` the initializer from `#Predicate`, which corelibs lacks. Queue:
/// any.
public protocol SwiftPredicateConverting {}

extension NSPredicate: SwiftPredicateConverting {}

extension SwiftPredicateConverting where Self: NSPredicate {
    /// The same condition for a fetch; it becomes the SQL that its format would.
    ///
    /// Nil where the predicate uses what the predicate language does not have, or a property of no
    /// loaded model: `NSPredicate.converting(_:)` throws the reason. Source: Apple, NSPredicate.
    public init?<Input: NSObject>(_ predicate: Predicate<Input>) {
        guard let made = try? NSPredicate.converting(predicate) as? Self else { return nil }
        self = made
    }
}

extension NSPredicate {
    /// The same condition for a fetch. Throws `PredicateTranslationError` with the operation or key
    /// path that has no form in the predicate language. Cost: O(nodes), in memory.
    public static func converting<Input: NSObject>(
        _ predicate: Predicate<Input>
    ) throws -> NSPredicate {
        try SwiftPredicateTranslator(naming: KeyPathNaming.name).node(of: predicate).predicate
    }
}

extension NSManagedObject: CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSManagedObjectID: CVarArg {
    /// The ID itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}
