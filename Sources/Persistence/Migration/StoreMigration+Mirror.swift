internal import Foundation
internal import ObjectModel
internal import SQLiteStore

extension StoreMigration {
    /// A store that is mirrored goes on being so: what it and its service agreed on follows the
    /// objects into the new file.
    func handOnMirror(to new: StoreParameters) throws {
        guard source.type == NSSQLiteStoreType, new.type == NSSQLiteStoreType,
            let from = source.file, let file = new.file,
            let associations = manager.work?.associations
        else { return }
        try SQLiteRowStore.handOnMirror(from: from, to: file, entities: successors) { body in
            try associations.forEachPair(body)
        }
    }

    /// What each old entity that has a mapping becomes: of several, the one of its name or with its
    /// name as renaming identifier, else that of the first mapping.
    private var successors: [String: String] {
        var successors: [String: String] = [:]
        for mapping in mapping.entityMappings ?? [] {
            guard let old = mapping.sourceEntityName, let new = mapping.destinationEntityName else {
                continue
            }
            let identifier = manager.destinationModel.entitiesByName[new]?.renamingIdentifier
            if successors[old] == nil || old == new || old == identifier { successors[old] = new }
        }
        return successors
    }
}
