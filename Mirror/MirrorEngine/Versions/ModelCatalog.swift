internal import Foundation
internal import ObjectModel
internal import Stores

/// What a version of the model knows of records, in a form that the ledger keeps: after an update
/// of the app it tells which properties are new here, and what renamed ones were called.
struct ModelCatalog: Codable, Equatable {
    struct Property: Codable, Equatable {
        var name: String
        var key: String
        var field: String
        var type: String
    }

    struct Entity: Codable, Equatable {
        var name: String
        var key: String
        /// Attributes and to-ones.
        var properties: [Property]
        /// The names of to-manys, by key.
        var toManys: [String: String]
    }

    var entities: [Entity]
    /// Whether all records that were not known since the zone was last read from its start are kept
    /// aside. Older versions of this library left them to the service.
    var keepsAside: Bool

    init(_ mapping: RecordMapping, keepsAside: Bool) {
        self.keepsAside = keepsAside
        let keys = mapping.keys
        entities = mapping.layout.entities.map { layout in
            let attributes = layout.attributes.enumerated().map { slot, attribute in
                Property(
                    name: attribute.name, key: keys.property(attribute.name, of: layout.name),
                    field: mapping.names.attribute(slot, of: layout).plain,
                    type: FieldNames.wireType(of: attribute.attribute))
            }
            let toOnes = layout.toOnes.enumerated().map { slot, relationship in
                Property(
                    name: relationship.name, key: keys.property(relationship.name, of: layout.name),
                    field: mapping.names.toOne(slot, of: layout).plain, type: "LINK")
            }
            let toManys = layout.toManys.map {
                (keys.property($0.name, of: layout.name), $0.name)
            }
            return Entity(
                name: layout.name, key: keys.entity(layout.name), properties: attributes + toOnes,
                toManys: Dictionary(toManys, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// nil for a text that is none.
    init?(text: String) {
        guard let known = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
            return nil
        }
        self = known
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func entity(withKey key: String) -> Entity? { entities.first { $0.key == key } }
}
