internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Predicates

/// `--only`: which objects of a store are sent and fetched.
struct SelectionOption {
    static let only = Option(
        "only", "ENTITY[:PREDICATE]", repeats: true,
        "send these objects only, from now on; 'all' for everything")

    /// Empty where nobody said anything, so that what the store keeps holds.
    private let words: [String]

    init(_ arguments: Arguments) throws {
        words = arguments.values(Self.only)
        guard words.count < 2 || !words.contains(Self.everything) else {
            throw CommandError(
                "usage", "--only all goes with no other --only.",
                hint: "Leave out all, or the others.", status: .usage)
        }
    }

    private static let everything = "all"

    func source(_ model: NSManagedObjectModel) throws -> SelectionSource {
        guard !words.isEmpty else { return .remembered }
        guard words != [Self.everything] else { return .given(nil) }
        let parts = try words.map { word in
            let choice = try ObjectChoice(word, model)
            return (choice.entity, choice.predicate)
        }
        return .given(SyncSelection(only: parts, of: model))
    }
}

/// `ENTITY[:PREDICATE]`: objects of an entity and its subentities.
struct ObjectChoice {
    let entity: String
    /// nil for all.
    let predicate: NSPredicate?

    /// Throws a `CommandError` of status `.usage` for an entity that the model has not, and
    /// `PredicateFormatError`.
    init(_ word: String, _ model: NSManagedObjectModel) throws {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        entity = String(parts[0])
        guard model.entitiesByName[entity] != nil else {
            throw Self.unknown(entity, among: model.entitiesByName.keys.sorted())
        }
        let condition = parts.count > 1 ? String(parts[1]) : ""
        predicate =
            condition.allSatisfy(\.isWhitespace) ? nil : try NSPredicate.parse(condition)
    }

    var condition: PredicateNode? { predicate.map(node) }

    private static func unknown(_ entity: String, among names: [String]) -> CommandError {
        let near = Spelling.nearest(to: entity, among: names).map { "Did you mean \($0)? " } ?? ""
        return CommandError(
            "unknownEntity", "The model has no entity '\(entity)'.",
            hint: near + "It has \(names.joined(separator: ", ")).", status: .usage)
    }
}
