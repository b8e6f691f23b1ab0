internal import Foundation
internal import Platform
internal import Stores

/// Tells on standard error of values whose files are gone.
///
/// As with Apple, such an attribute reads as nil and the fetch goes on. The store keeps its
/// reference through every save that does not set the attribute, so that the value is back when its
/// file is.
enum MissingValueNotice {
    /// The rows that were told of, up to a number, so that each is told of once.
    private static let told = Lock<Set<RowID>>([])
    private static let toldMax = 1000

    static func tell(_ row: Row, in layout: ModelLayout) {
        let isNews = told.withLock { $0.count < toldMax && $0.insert(row.id).inserted }
        guard isNews, let entity = layout.entity(row.id.entity) else { return }
        let names = row.missing.map { entity.attributes[$0].name }.joined(separator: ", ")
        write(
            "The file of \(names) of \(entity.name) \(row.id.key) is gone, so it reads as nil; the "
                + "store keeps the reference. Put the file back from a copy of the store.")
    }

    static func write(_ sentence: String) {
        FileHandle.standardError.write(Data("CoreData: error: \(sentence)\n".utf8))
    }
}
