internal import Foundation
internal import ObjectModel
internal import Stores

/// Property lists as they stand in stores and beside models.
enum PropertyListTarget {
    static func read(_ data: Data) throws {
        if data.starts(with: Data("bplist".utf8)) {
            _ = try PropertyListReader.table(data, file: "fuzz")
        } else {
            let head = Data(
                "<database><databaseInfo><UUID>x</UUID><nextObjectID>1</nextObjectID><metadata>"
                    .utf8)
            let tail = Data("</metadata></databaseInfo></database>".utf8)
            _ = try? XMLGraphFormat.readHead(head + data + tail, path: "fuzz")
        }
        let values = try PropertyListValues.dictionary(in: data, file: "fuzz")
        guard values.count < 1 << 20 else {
            throw BrokenPromise(description: "a property list grew when it was read")
        }
    }
}
