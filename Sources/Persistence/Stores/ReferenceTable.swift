internal import Foundation
internal import ObjectModel
internal import Stores

/// The keys that stand for the reference objects of a program's own store: whole numbers and texts
/// as they are, anything else by its description. Keys are unique in the whole store.
struct ReferenceTable {
    /// A reference within its entity's tree.
    private struct Name: Hashable {
        var tree: String
        var text: String
    }

    private var keys: [Name: Int64] = [:]
    private var references: [Int64: Any] = [:]
    private var highest: [String: Int] = [:]
    private(set) var lastKey: Int64 = 0

    /// The key of a reference, made at its first mention.
    mutating func key(for reference: Any, tree: String) -> Int64 {
        let name = Name(tree: tree, text: Self.text(of: reference))
        if let known = keys[name] { return known }
        lastKey += 1
        keys[name] = lastKey
        references[lastKey] = reference
        if let number = reference as? Int { highest[tree] = max(highest[tree] ?? 0, number) }
        return lastKey
    }

    func reference(for key: Int64) -> Any? { references[key] }

    /// A whole number that no reference of the tree is yet.
    mutating func freshNumber(tree: String) -> Int {
        let number = (highest[tree] ?? 0) + 1
        highest[tree] = number
        return number
    }

    // MARK: URIs

    /// What stands for the reference in a URI: `p7` for a number, `p.` and the text for others.
    func uriName(of key: Int64) -> String {
        guard let reference = references[key] else { return "p" }
        let text = Self.text(of: reference)
        guard !(reference is Int) else { return "p\(text)" }
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_~"))
        return "p." + (text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text)
    }

    /// The key of what a URI names. A store learns of its rows when they are asked for, so the
    /// name may be new.
    mutating func key(uriName: String, tree: String) -> Int64? {
        guard uriName.first == "p" else { return nil }
        let rest = uriName.dropFirst()
        if rest.first == "." {
            return rest.dropFirst().removingPercentEncoding.map { key(for: $0, tree: tree) }
        }
        return Int(rest).map { key(for: $0, tree: tree) }
    }

    private static func text(of reference: Any) -> String { "\(reference)" }
}

extension EntityLayout {
    /// The name of the tree's root, within which references are unique.
    var treeName: String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return root.name ?? ""
    }
}
