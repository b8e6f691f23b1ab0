internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Platform
internal import Stores

/// Tells one model from another as far as records can see.
///
/// The version hashes of the entities say nothing of the names of fields (renaming identifiers,
/// `MirrorName`), of defaults and of seals: an app may change them and open its store without a
/// migration. Of values that an app may make anew at each start (dates, UUIDs) it only says that
/// they are there.
struct ModelDigest {
    private let layout: ModelLayout
    private var model: NSManagedObjectModel { layout.model }

    init(_ layout: ModelLayout) { self.layout = layout }

    /// The version hashes alone, where they say it all.
    var text: String { model.versionHashesDigest + facts + part }

    private var facts: String {
        let lines = model.entities.flatMap(lines).sorted()
        return lines.isEmpty ? "" : "." + Self.digest(lines.joined(separator: "\n"))
    }

    /// Which of its model's entities a store has, where it has not all: an entity that moves into
    /// the configuration of the store, or out of it, has the same hash as before.
    private var part: String {
        let all = Set(model.entities.compactMap(\.name))
        let names = Set(layout.members.compactMap(\.entity.name))
        return names == all ? "" : "/" + Self.digest(names.sorted().joined(separator: " "))
    }

    private static func digest(_ text: String) -> String {
        Data(SHA2.sha256(Array(text.utf8))).base64EncodedString()
    }

    private func lines(of entity: NSEntityDescription) -> [String] {
        let name = entity.name ?? ""
        let own = names(entity.renamingIdentifier, entity.userInfo, unlike: name)
        return (own.isEmpty ? [] : [line([name] + own)])
            + entity.properties.compactMap { property in
                let told =
                    names(property.renamingIdentifier, property.userInfo, unlike: property.name)
                    + ((property as? NSAttributeDescription).map(facts) ?? [])
                return told.isEmpty ? nil : line([name, property.name] + told)
            }
            + entity.properties.flatMap { property in
                (property as? NSCompositeAttributeDescription).map { elements(of: $0, in: name) }
                    ?? []
            }
    }

    /// What the elements of a composite are called in records, where they are not called so.
    private func elements(
        of composite: NSCompositeAttributeDescription, in place: String
    ) -> [String] {
        let place = "\(place).\(composite.name)"
        return composite.elements.flatMap { element -> [String] in
            let told = names(element.renamingIdentifier, element.userInfo, unlike: element.name)
            let inner = element as? NSCompositeAttributeDescription
            return (told.isEmpty ? [] : [line([place, element.name] + told)])
                + (inner.map { elements(of: $0, in: place) } ?? [])
        }
    }

    private func names(
        _ identifier: String?, _ userInfo: [AnyHashable: Any]?, unlike name: String
    ) -> [String] {
        var told: [String] = []
        if let identifier, identifier != name { told.append("identifier \(identifier)") }
        if let key = userInfo?[RecordKeys.userInfoKey] as? String { told.append("key \(key)") }
        return told
    }

    private func facts(of attribute: NSAttributeDescription) -> [String] {
        var told = attribute.allowsCloudEncryption ? ["sealed"] : []
        guard !(attribute is NSDerivedAttributeDescription), !attribute.isTransient else {
            return told
        }
        switch attribute.storedDefault {
        case .null: break
        case .integer(let number): told.append("default \(number)")
        case .double(let number): told.append("default \(number)")
        case .decimal(let number): told.append("default \(number)")
        case .text(let text): told.append("default \(text)")
        default: told.append("default")
        }
        return told
    }

    /// No two lists are one line.
    private func line(_ words: [String]) -> String {
        words.map { "\($0.utf8.count):\($0)" }.joined(separator: " ")
    }
}
