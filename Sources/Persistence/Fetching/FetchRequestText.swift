internal import Foundation
internal import ObjectModel
internal import Predicates

/// A fetch request as Apple's framework prints it.
struct FetchRequestText {
    let request: any FetchRequesting

    var text: String {
        let choice = request.choice
        var parts = [
            "entity: \(choice.entityName ?? choice.entity?.name ?? "(null)")",
            "predicate: (\(choice.predicate.map { node(of: $0).description } ?? "(null)"))",
            "sortDescriptors: (\(sorting(choice.sortDescriptors)))",
        ]
        if choice.limit > 0 { parts.append("limit: \(choice.limit)") }
        if choice.offset > 0 { parts.append("offset: \(choice.offset)") }
        if choice.batchSize > 0 { parts.append("batch size: \(choice.batchSize)") }
        parts.append("type: \(Self.name(of: choice.resultType))")
        if let paths = choice.prefetching, !paths.isEmpty {
            parts.append("relationshipKeyPathsForPrefetching: \(paths)")
        }
        let address = ManagedObjectText.address(of: request)
        return "<NSFetchRequest: \(address)> ("
            + parts.map { $0 + "; " }.joined() + ")"
    }

    private func sorting(_ descriptors: [NSSortDescriptor]?) -> String {
        guard let descriptors else { return "(null)" }
        let lines = descriptors.map { descriptor in
            let found = key(of: descriptor, naming: KeyPathNaming.name)
            let path = found?.path.joined(separator: ".") ?? "(null)"
            let order = descriptor.ascending ? "ascending" : "descending"
            let comparison = found?.comparison.rawValue ?? ""
            return "\n    \"(\(path), \(order), \(comparison.isEmpty ? "block" : comparison))\""
        }
        return "(" + lines.joined(separator: ",") + "\n)"
    }

    private static func name(of type: NSFetchRequestResultType) -> String {
        switch type {
        case .managedObjectIDResultType: "NSManagedObjectIDResultType"
        case .dictionaryResultType: "NSDictionaryResultType"
        case .countResultType: "NSCountResultType"
        default: "NSManagedObjectResultType"
        }
    }
}
