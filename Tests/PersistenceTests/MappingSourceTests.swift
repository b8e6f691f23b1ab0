import CoreData
import Foundation
import ObjectModel
import Testing

@testable import Persistence

/// The sources of mapping models say what their compiled forms say.
@Suite(.enabled(if: MigrationCorpusTests.folder != nil, "the corpus is not here"))
struct MappingSourceTests {
    private func summary(_ model: NSMappingModel) -> [String] {
        model.entityMappings.flatMap { mapping -> [String] in
            let hashes = [mapping.sourceEntityVersionHash, mapping.destinationEntityVersionHash]
                .map { $0?.base64EncodedString() ?? "any" }
            let head = [
                mapping.name ?? "", "\(mapping.mappingType.rawValue)",
                mapping.sourceEntityName ?? "", mapping.destinationEntityName ?? "",
                mapping.entityMigrationPolicyClassName ?? "",
                mapping.sourceExpression?.description ?? "",
            ]
            let properties = [mapping.attributeMappings, mapping.relationshipMappings]
                .flatMap { $0 ?? [] }
                .map { "  \($0.name ?? ""): \($0.valueExpression?.description ?? "")" }
            return [(head + hashes).joined(separator: " | ")] + properties
        }
    }

    @Test func aSourceSaysWhatItsCompiledFormSays() throws {
        let compiled = try NSMappingModel.load(
            from: MigrationChain.file(
                "compiled/alemar11__CoreDataPlus/Tests/Resources/SampleModel/Fixtures/V2toV3.cdm"))
        let source = try NSMappingModel.load(
            from: MigrationChain.file(
                "mapping/alemar11__CoreDataPlus/Tests/Resources/SampleModel/MappingModels/"
                    + "V2toV3.xcmappingmodel"))
        #expect(summary(source) == summary(compiled))
    }

    @Test(arguments: MigrationChain.mappings) func aSourceIsRead(_ name: String) throws {
        let model = try NSMappingModel.load(from: MigrationChain.file(name))
        #expect(!model.entityMappings.isEmpty)
        for mapping in model.entityMappings {
            #expect(mapping.name?.isEmpty == false)
            #expect((mapping.sourceEntityName == nil) == (mapping.sourceEntityVersionHash == nil))
            #expect(
                (mapping.destinationEntityName == nil)
                    == (mapping.destinationEntityVersionHash == nil))
        }
        let repository = name.split(separator: "/")[1]
        var fitting: [String] = []
        for chain in MigrationChain.all where chain.bundle.contains("/\(repository)/") {
            let models = try chain.versions.map { ($0, try chain.model($0)) }
            for (from, old) in models {
                fitting += models.filter { $0.0 != from && model.fits(old, $0.1) }
                    .map { "\(from) to \($0.0)" }
            }
        }
        print("\((name as NSString).lastPathComponent): \(fitting)")
    }
}
