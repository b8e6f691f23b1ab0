internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

/// Whether a model is sound, whether a store keeps it, and who can mirror its stores.
struct ModelCheck {
    struct Finding: Sendable {
        let code: String
        let entity: String?
        let property: String?
        let message: String

        var json: JSON {
            [
                "code": .string(code), "entity": JSON(entity), "property": JSON(property),
                "message": .string(message),
            ]
        }
    }

    /// How the model contradicts itself; only the first contradiction is told.
    private(set) var problems: [Finding] = []
    /// What its file says that is no proper value, and how that was read.
    private(set) var readings: [Finding] = []
    /// Why no SQLite store can be made for it.
    private(set) var refusals: [Finding] = []
    /// What a SQLite store of it will not do as the model asks.
    private(set) var storeNotes: [Finding] = []
    /// Why Diptych cannot mirror it.
    private(set) var mirror: [Finding] = []
    /// Why Apple's NSPersistentCloudKitContainer refuses it; Diptych does not mind these.
    private(set) var cloudKit: [Finding] = []

    init(_ model: NSManagedObjectModel) {
        readings = model.readingNotes.map {
            Finding(code: "readingNote", entity: nil, property: nil, message: $0)
        }
        do {
            try model.checkConsistency()
        } catch {
            let contradiction = error as? ModelConsistencyError
            problems.append(
                Finding(
                    code: contradiction.map { "\($0.code)" } ?? "contradictoryModel",
                    entity: contradiction?.fields["entity"],
                    property: contradiction?.fields["property"],
                    message: contradiction?.message ?? "\(error)"))
            refusals = problems
            mirror = problems
            cloudKit = problems
            return
        }
        tryStore(of: model)
        for entity in model.entities {
            checkRule(entity.userInfo, entity, nil)
            if !entity.uniquenessConstraints.isEmpty {
                let names = entity.uniquenessConstraintNames.map { $0.joined(separator: ", ") }
                cloudKit.append(
                    Finding(
                        code: "uniquenessConstraint", entity: entity.name, property: nil,
                        message: "has uniqueness constraints (\(names.joined(separator: "; ")))"))
            }
            for property in entity.declaredProperties where !property.isTransient {
                checkRule(property.userInfo, entity, property)
                check(property, of: entity)
            }
        }
    }

    /// Makes a store in memory, which says what it cannot do.
    private mutating func tryStore(of model: NSManagedObjectModel) {
        do {
            let store = try SQLiteRowStore(url: nil, model: model, platform: .system)
            storeNotes = store.schemaNotes.map { note in
                Finding(
                    code: "storeNote", entity: note.entity, property: note.subject,
                    message: note.text)
            }
        } catch {
            let refusal = error as? StoreError
            refusals.append(
                Finding(
                    code: refusal.map { "\($0.code)" } ?? "refused",
                    entity: refusal?.fields["entity"], property: refusal?.fields["attribute"],
                    message: refusal?.message ?? "\(error)"))
        }
    }

    /// Rules of merging that the model names must be known.
    private mutating func checkRule(
        _ userInfo: [AnyHashable: Any]?, _ entity: NSEntityDescription,
        _ property: NSPropertyDescription?
    ) {
        guard let word = userInfo?[MergePolicy.userInfoKey] as? String,
            MergeRule(name: word) == nil
        else { return }
        mirror.append(
            Finding(
                code: "unknownMergeRule", entity: entity.name, property: property?.name,
                message: "names the merge rule '\(word)', which is none of "
                    + MergeRule.names.joined(separator: ", ")))
    }

    private mutating func check(
        _ property: NSPropertyDescription, of entity: NSEntityDescription
    ) {
        var reasons: [(code: String, message: String)] = []
        switch property {
        case let attribute as NSDerivedAttributeDescription:
            _ = attribute
        case let attribute as NSAttributeDescription:
            if !attribute.isOptional && attribute.defaultValue == nil {
                reasons.append(("requiredWithoutDefault", "is required and has no default"))
            }
            if [.undefinedAttributeType, .objectIDAttributeType].contains(attribute.attributeType) {
                let type = attribute.attributeType.fileName ?? "unknown"
                reasons.append(("unsupportedType", "is of the type \(type)"))
            }
        case let relationship as NSRelationshipDescription:
            if !relationship.isOptional { reasons.append(("requiredRelationship", "is required")) }
            if relationship.inverseRelationship == nil {
                reasons.append(("noInverse", "has no inverse"))
            }
            if relationship.isOrdered { reasons.append(("ordered", "is ordered")) }
            if relationship.deleteRule == .denyDeleteRule {
                reasons.append(("denyRule", "has the delete rule Deny"))
            }
        default: break
        }
        for reason in reasons {
            cloudKit.append(
                Finding(
                    code: reason.code, entity: entity.name, property: property.name,
                    message: reason.message))
        }
    }
}
