package import Foundation

/// Puts predicates and expressions that a model holds as texts into an archive, as objects of
/// Apple's classes. It is implemented where the texts are parsed, above this module.
package protocol PredicateArchiving {
    /// The reference of the archived predicate; nil where its text has no archived form, which
    /// leaves the archive as it was.
    func archive(predicate text: String, into builder: inout KeyedArchiveBuilder) -> Int?
    /// The reference of the archived expression; nil as for predicates.
    func archive(expression text: String, into builder: inout KeyedArchiveBuilder) -> Int?
    /// The text of a predicate that a program set.
    func text(of predicate: NSPredicate) -> String
}

/// What an archive is for, which decides its shape.
package enum ModelArchiveShape: Sendable {
    /// A `.mom`: each entity has the properties it declares itself.
    case compiled
    /// A store's model cache: each entity has all its properties, and the entities stand in order.
    case cache
}
