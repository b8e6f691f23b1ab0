internal import Foundation
internal import ObjectModel

/// What an update calls otherwise in records though the model calls it as before: a renaming
/// identifier or a `MirrorName` was taken away, or another one was given. Values go on under the
/// new name, but devices of the version before do not see them, nor are theirs seen here.
extension ModelCatalog {
    /// What of an entity, or the entity itself for an empty name, was called so in records.
    private struct Former: Hashable {
        let name: String
        let was: String
        let key: String
    }

    /// One sentence for each; what entities inherit is told once.
    func namesLetGo(by present: ModelCatalog) -> [String] {
        var owners: [Former: [String]] = [:]
        for old in entities {
            for (former, entity) in Self.namesLetGo(old, present) {
                owners[former, default: []].append(entity)
            }
        }
        return owners.map { Self.sentence($0.key, $0.value.sorted()) }.sorted()
    }

    private static func namesLetGo(
        _ old: Entity, _ present: ModelCatalog
    ) -> [(Former, entity: String)] {
        if let new = present.entity(withKey: old.key) { return namesLetGo(old, new) }
        guard old.key != old.name,
            let new = present.entities.first(where: { $0.name == old.name })
        else { return [] }
        return [(Former(name: "", was: old.key, key: new.key), new.name)] + namesLetGo(old, new)
    }

    private static func namesLetGo(_ old: Entity, _ new: Entity) -> [(Former, entity: String)] {
        let present = new.keysByName
        return old.keysByName.compactMap { name, key in
            guard key != name, !present.values.contains(key), let other = present[name] else {
                return nil
            }
            return (Former(name: name, was: key, key: other), new.name)
        }
    }

    private static func sentence(_ former: Former, _ entities: [String]) -> String {
        let owners = entities.joined(separator: ", ")
        let what = former.name.isEmpty ? owners : "\(former.name) of \(owners)"
        return "\(what) is called \(former.key) in records now, and was called \(former.was): "
            + "devices with the version before do not see its new values. Keep the renaming "
            + "identifier \(former.was), or set \(RecordKeys.userInfoKey) to it in the userInfo."
    }

    /// Says so where warnings of stores are said.
    func warnOfNamesLetGo(by present: ModelCatalog) {
        for sentence in namesLetGo(by: present) {
            FileHandle.standardError.write(Data("CoreData: warning: \(sentence)\n".utf8))
        }
    }
}

extension ModelCatalog.Entity {
    fileprivate var keysByName: [String: String] {
        Dictionary(
            properties.map { ($0.name, $0.key) } + toManys.map { ($0.value, $0.key) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension RecordMapping {
    /// `ModelCatalog.namesLetGo` for those who have both models.
    package func namesLetGo(by later: RecordMapping) -> [String] {
        ModelCatalog(self, keepsAside: true)
            .namesLetGo(by: ModelCatalog(later, keepsAside: true))
    }
}
