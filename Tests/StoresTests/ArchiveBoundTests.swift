import Foundation
import ObjectModel
import Testing

@testable import Stores

/// What a store's writer takes its reader takes, too; what is past the reader's bounds is refused
/// before it is written.
@Suite struct ArchiveBoundTests {
    private func nested(_ depth: Int) -> [String: Any] {
        var value: Any = 1
        for _ in 1..<depth { value = [value] }
        return ["deep": value]
    }

    private func graph(_ metadata: [String: Any]) -> StoredGraph {
        var graph = StoredGraph(identifier: "x", lastKey: 0)
        graph.metadata = metadata
        return graph
    }

    @Test(arguments: GraphKind.allCases)
    func metadataNestsAsDeepAsItIsRead(kind: GraphKind) throws {
        var deepest = 0
        for depth in 1...80 {
            do {
                let data = try kind.write(graph(nested(depth)))
                _ = try kind.read(data)
                deepest = depth
            } catch let error as StoreError {
                #expect(error.code == .invalidValue, "\(depth)")
            }
        }
        #expect(kind == .binary ? deepest == 31 : deepest > 50)
    }

    /// The list and the dictionary around it count, too.
    @Test(arguments: [(99_998, true), (99_999, false)])
    func binaryMetadataHasAsManyValuesAsAreRead(count: Int, fits: Bool) throws {
        let graph = graph(["many": Array(repeating: 1, count: count)])
        guard fits else {
            let error = try #require(throws: StoreError.self) {
                try GraphKind.binary.write(graph)
            }
            #expect(error.code == .invalidValue)
            return
        }
        let found = try GraphKind.binary.read(GraphKind.binary.write(graph))
        #expect((found.metadata["many"] as? [Any])?.count == count)
    }

    @Test func anArchiveIsWrittenUpToTheLimitsOfItsReader() throws {
        var archive = ArchiveWriting()
        let members = (0..<50).map { archive.plain(.integer(Int64($0))) }
        let root = archive.array(members)
        var limits = ArchiveReading.limits
        var written = 0
        for count in 100...260 {
            limits.objects = count
            var draft = archive
            guard let data = try? draft.data(root: root, limits: limits) else { continue }
            written += 1
            let reading = try ArchiveReading(data, path: "x", limits: limits)
            #expect(try reading.array(root).count == 50)
        }
        #expect(written > 0 && written < 161)
        limits = ArchiveReading.limits
        limits.references = 40
        let error = try #require(throws: StoreError.self) {
            var draft = archive
            return try draft.data(root: root, limits: limits)
        }
        #expect(error.code == .unsupported)
    }

    @Test func extremeValuesOfABinaryStoreAreReadAgain() throws {
        var object = StoredObject(entity: "E", key: .max / 2 - 1)
        let values: [(String, AttributeValue)] = [
            ("int64", .integer(.min)), ("int64", .integer(.max)), ("double", .double(.infinity)),
            ("double", .double(.leastNonzeroMagnitude)), ("decimal", .decimal(.nan)),
            ("decimal", .decimal(.greatestFiniteMagnitude)),
            ("decimal", .decimal(.leastNonzeroMagnitude)),
            ("decimal", .decimal(-.greatestFiniteMagnitude)),
            ("string", .text("\0\u{10FFFF}e\u{301}")),
            ("uri", .uri("")), ("date", .date(-.infinity)), ("binary", .data(Data())),
        ]
        for (index, (type, value)) in values.enumerated() {
            object.attributes.append(
                StoredAttribute(name: "a\(index)", type: type, value: value))
        }
        var graph = graph([:])
        graph.objects = [object]
        let found = try GraphKind.binary.read(GraphKind.binary.write(graph))
        #expect(found.objects.first?.attributes.map(\.value).count == values.count)
        for attribute in object.attributes {
            let read = found.objects.first?.attributes.first { $0.name == attribute.name }
            #expect("\(read?.value ?? .null)" == "\(attribute.value)")
        }
    }
}
