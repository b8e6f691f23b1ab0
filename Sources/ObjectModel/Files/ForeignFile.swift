internal import Foundation

/// Files that stand beside models and are taken for them: what they are, and what to open instead.
enum ForeignFile {
    /// Why `data` is no model; nil where it may be one.
    static func refusal(_ data: Data, path: String) -> ModelFileError? {
        if data.starts(with: Array("momv2$".utf8)) {
            return ModelFileError(
                .unsupportedFormat, file: path,
                "the file is an optimized model (.omo), a private form of Apple's frameworks; open"
                    + " the .mom that stands beside it")
        }
        if data.starts(with: Array("SQLite format 3\0".utf8)) {
            return ModelFileError(
                .notAModel, file: path,
                "the file is a SQLite store; give the model that it was made with")
        }
        let head = String(decoding: data.prefix(2048), as: UTF8.self)
        if head.contains("<!DOCTYPE plist") {
            return ModelFileError(
                .notAModel, file: path,
                "the file is a property list, such as the list of versions in a bundle; give the"
                    + " .momd or .xcdatamodeld folder, or one of the models in it")
        }
        guard head.contains("<!DOCTYPE database") else { return nil }
        return head.contains("XDDev")
            ? ModelFileError(
                .notAModel, file: path,
                "the file is the source of a mapping model, which says how stores of one model"
                    + " become stores of another; give one of the two models")
            : ModelFileError(
                .notAModel, file: path,
                "the file is an XML store, which keeps no model; give the model that it was made"
                    + " with")
    }

    /// Why an archive whose root is of another class is no model.
    static func refusal(_ root: ArchivedObject) -> ModelFileError {
        guard root.className == "NSMappingModel" else {
            return ModelFileError(
                .notAModel, file: root.archive.file,
                "the archive holds a \(root.className.prefix(80)); expected an"
                    + " NSManagedObjectModel")
        }
        let names = root.list("NSEntityMappings").prefix(1000)
            .compactMap { $0?.object?.string("NSMappingName") }
        let shown = names.prefix(4).map { String($0.prefix(80)) }.joined(separator: ", ")
        let more = names.count > 4 ? " and \(names.count - 4) more" : ""
        let list = names.isEmpty ? "" : " (\(shown)\(more))"
        return ModelFileError(
            .notAModel, file: root.archive.file,
            "the file is a compiled mapping model (.cdm)\(list), which says how stores of one model"
                + " become stores of another; give one of the two models")
    }
}
