internal import Foundation
internal import ObjectModel
internal import SQLiteStore

/// The errors of migrations: Apple's codes and keys, with a sentence that says what to do.
enum MigrationErrors {
    static func notInferred(_ refusal: InferenceRefusal) -> NSError {
        var userInfo: [String: Any] = ["entity": refusal.entity, "reason": refusal.reason]
        userInfo["property"] = refusal.property
        let subject = refusal.property.map { "\(refusal.entity).\($0)" } ?? refusal.entity
        return PersistenceErrors.make(
            NSInferredMappingModelError,
            "No mapping can be inferred: \(refusal.reason) (\(subject)). Write a mapping model, or "
                + "go in two steps.", userInfo)
    }

    static func missingSourceModel(
        _ url: URL?, _ metadata: [String: Any]
    ) -> NSError {
        var userInfo: [String: Any] = [
            "metadata": metadata, "reason": "Can't find model for source store",
        ]
        userInfo["URL"] = url
        return PersistenceErrors.make(
            NSMigrationMissingSourceModelError,
            "Persistent store migration failed, missing source managed object model: add the model "
                + "the store was made with to the program's resources.", userInfo)
    }

    /// The store is of a version that came after the program's.
    static func newerVersion(
        _ url: URL, _ metadata: [String: Any], _ explanation: MigrationExplanation
    ) -> NSError {
        let lost = explanation.lines.filter { $0.kind == .removed }.map(\.description)
        return PersistenceErrors.make(
            NSMigrationMissingSourceModelError,
            "The store was written with a newer version of the model than this program has, and "
                + "migrating it would lose what that version holds "
                + "(\(lost.joined(separator: "; "))). The store is as it was; open it with the "
                + "newer program, or add its version to the program's models.",
            [
                "metadata": metadata, "URL": url, "differences": lost,
                "reason": "Can't find model for source store",
            ])
    }

    /// The store is of another version, told entity by entity where its model is known.
    static func incompatible(_ error: NSError, _ parameters: StoreParameters) -> NSError {
        var userInfo = error.userInfo
        userInfo["reason"] =
            "The model used to open the store is incompatible with the one used to create the store"
        guard let url = parameters.file,
            let metadata = try? StoreFileType(parameters.type).metadata(at: url)
        else {
            return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
        }
        userInfo["metadata"] = metadata
        if let source = AutomaticMigration.sourceModel(of: parameters, metadata, among: []) {
            let model = parameters.model
            let lines = MigrationExplanation(
                source.entities,
                model.entities(forConfigurationName: parameters.configuration) ?? []
            ).lines.map(\.description)
            userInfo["differences"] = lines
            if !lines.isEmpty {
                userInfo[NSLocalizedDescriptionKey] =
                    "The store was written with another version of the model: "
                    + "\(lines.joined(separator: "; ")). Let it be migrated "
                    + "(NSMigratePersistentStoresAutomaticallyOption, `diptych migrate`), or open "
                    + "it with the model it was made for."
            }
        }
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    static func missingMapping(
        _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel,
        because cause: (any Error)?
    ) -> NSError {
        var userInfo: [String: Any] = [
            "sourceModel": source, "destinationModel": destination,
            "reason": "Can't find mapping model for migration",
        ]
        var detail = "set NSInferMappingModelAutomaticallyOption, or add a mapping model"
        if let cause {
            userInfo[NSUnderlyingErrorKey] = cause
            userInfo["reason"] = "Can't find or automatically infer mapping model for migration"
            detail = (cause as NSError).localizedDescription
        }
        return PersistenceErrors.make(
            NSMigrationMissingMappingModelError,
            "Persistent store migration failed, missing mapping model: \(detail)", userInfo)
    }

    /// Objects that no mapping names would be lost.
    static func unmapped(
        _ entity: String, _ count: Int, _ source: NSManagedObjectModel,
        _ destination: NSManagedObjectModel
    ) -> NSError {
        PersistenceErrors.make(
            NSMigrationMissingMappingModelError,
            "No mapping says what becomes of the \(count) objects of \(entity), which would be "
                + "lost; add an entity mapping for it, of the remove type where they are to go.",
            [
                "sourceModel": source, "destinationModel": destination, "entity": entity,
                "reason": "No entity mapping for \(entity)",
            ])
    }

    /// Wraps what stopped a migration. The store is as it was.
    static func failed(_ url: URL?, because cause: any Error) -> NSError {
        let cause = (cause as? UpgradeRefusal).map(refused) ?? PersistenceErrors.translate(cause)
        let inner = cause as NSError
        let said = inner.userInfo["reason"] as? String ?? inner.localizedDescription
        var userInfo: [String: Any] = [
            NSUnderlyingErrorKey: inner, "reason": "Cannot migrate store in-place: \(said)",
        ]
        userInfo["sourceURL"] = url
        return PersistenceErrors.make(
            NSMigrationError,
            "An error occurred during persistent store migration; the store is as it was: \(said)",
            userInfo)
    }

    /// Why the rows do not fit the new model.
    static func refused(_ refusal: UpgradeRefusal) -> NSError {
        var userInfo: [String: Any] = [:]
        userInfo["entity"] = refusal.entity
        switch refusal.reason {
        case .missingValue:
            userInfo["attribute"] = refusal.subject
            userInfo["reason"] =
                "Validation error missing attribute values on mandatory destination attribute"
            return PersistenceErrors.make(
                NSMigrationError,
                "Objects of \(refusal.entity ?? "") have no value for \(refusal.subject), which "
                    + "the new model demands; give it a default, or make it optional.", userInfo)
        case .duplicate:
            userInfo["constraint"] = refusal.subject
            userInfo["reason"] = "constraint violation during attempted migration"
            return PersistenceErrors.make(
                NSMigrationConstraintViolationError,
                "Objects of \(refusal.entity ?? "") have equal values of \(refusal.subject), which "
                    + "the new model wants unique; change them before.", userInfo)
        case .missingFile(let name):
            userInfo["attribute"] = refusal.subject
            userInfo["reason"] = "the file of a value is missing"
            return PersistenceErrors.make(
                NSMigrationError,
                "The file \(name) of a value of \(refusal.subject) of \(refusal.entity ?? "") is "
                    + "missing among the store's large values, and the migration would lose the "
                    + "value for good; bring it back, or give that object another before.",
                userInfo)
        }
    }

    static func noPolicy(_ name: String) -> NSError {
        PersistenceErrors.make(
            NSEntityMigrationPolicyError,
            "There is no migration policy \(name); check the name, and make the class known with "
                + "NSEntityMigrationPolicy.register(_:).", ["policy": name])
    }

    static func unknownStage(_ checksum: String) -> NSError {
        PersistenceErrors.make(
            NSManagedObjectModelReferenceNotFoundError,
            "Cannot use staged migration with an unknown model version: no stage names the store's "
                + "checksum \(checksum).", ["checksum": checksum])
    }

    static var backwards: NSError {
        PersistenceErrors.make(
            NSStagedMigrationBackwardMigrationError,
            "The store was made with a later model than the coordinator's; stages lead forward "
                + "only. Open it with the newer program.")
    }
}
