public import Foundation

extension NSManagedObjectModel {
    /// The checksums of the versions of a model, by their names; a model without versions is found
    /// by its file's name. Throws `ModelFileError`. Cost: reads every version. Source: Apple,
    /// NSManagedObjectModel.
    // swift-format-ignore: NoLeadingUnderscores
    public class func __checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        let own = modelURL.deletingPathExtension().lastPathComponent
        return try ModelFile.versions(in: modelURL).reduce(into: [:]) { checksums, version in
            let model = try NSManagedObjectModel.load(from: modelURL, version: version)
            checksums[version ?? own] = model.versionChecksum
        }
    }
}
