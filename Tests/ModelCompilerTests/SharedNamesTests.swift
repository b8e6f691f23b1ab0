import Testing

@testable import ModelCompiler

@Suite struct SharedNamesTests {
    private func text(_ source: String) throws -> String {
        let file = try DeclarationReader.declarations(in: source, file: "A.swift")
        let keys = PropertyKeys(models: [], members: file.members)
        var writer = AccessorWriter(files: [file], module: "App", keys: keys)
        return try writer.text()
    }

    @Test func usedNamesGetOneOfTheModules() throws {
        let used = try text("import CoreData\nimport Foundation\nlet a: NSExpression? = nil")
        #expect(used.contains("\ntypealias NSExpression = CoreData.NSExpression\n"))
        #expect(!used.contains("NSComparisonPredicate"))
        #expect(try !text("import CoreData\n// NSExpression").contains("typealias"))
    }

    @Test func ownNamesAreLeftAlone() throws {
        let own = "import CoreData\ntypealias NSExpression = CoreData.NSExpression"
        #expect(try !text(own).contains("typealias NSExpression"))
    }

    @Test func namesArePublicWhereTheModuleIs() throws {
        let text = try text("public import CoreData\npublic func f(_ e: NSExpression) {}")
        #expect(text.contains("public import CoreData"))
        #expect(text.contains("public typealias NSExpression = CoreData.NSExpression"))
    }
}
