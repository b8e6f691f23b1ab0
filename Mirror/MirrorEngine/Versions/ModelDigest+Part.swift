internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

extension ModelDigest {
    /// Which of its model's entities a store has, where it has not all: an entity that moves into
    /// the configuration of the store, or out of it, has the same hash as before.
    static func part(_ layout: ModelLayout) -> String {
        let all = Set(layout.model.entities.compactMap(\.name))
        let names = Set(layout.members.compactMap(\.entity.name))
        guard names != all else { return "" }
        let digest = SHA2.sha256(Array(names.sorted().joined(separator: " ").utf8))
        return "/" + Data(digest).base64EncodedString()
    }
}
