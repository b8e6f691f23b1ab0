import Foundation
import Stores
import Testing

@Suite(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
struct XMLCorpusTests {
    @Test(arguments: Corpus.xmlStores)
    func everyRealFileReadsInFull(url: URL) throws {
        let text = try String(contentsOf: url, encoding: .utf8)
        let graph = try XMLRowStore.contents(at: url)
        func count(_ piece: String) -> Int { text.components(separatedBy: piece).count - 1 }
        #expect(graph.objects.count == count("<object "))
        #expect(graph.objects.reduce(0) { $0 + $1.attributes.count } == count("<attribute "))
        #expect(graph.objects.reduce(0) { $0 + $1.relationships.count } == count("<relationship "))
        #expect(graph.objects.map(\.key).max() ?? 0 <= graph.lastKey)
        #expect(UUID(uuidString: graph.identifier) != nil)
        let hashes = graph.metadata["NSStoreModelVersionHashes"] as? [String: Data]
        #expect(hashes?.values.allSatisfy { $0.count == 32 } == true)
        let metadata = try XMLRowStore.metadata(at: url)
        #expect(metadata["NSStoreUUID"] as? String == graph.identifier)
        #expect(metadata["NSStoreType"] as? String == "XML")
    }

    @Test(arguments: Corpus.xmlStores)
    func everyRealFileReadsBackEqualOnceWritten(url: URL) throws {
        let graph = try XMLRowStore.contents(at: url)
        let written = try XMLGraphFormat.write(graph)
        let again = try XMLGraphFormat.read(written, path: "copy")
        #expect(again.objects == graph.objects)
        #expect(again.identifier == graph.identifier && again.lastKey == graph.lastKey)
        #expect(
            NSDictionary(dictionary: again.metadata) == NSDictionary(dictionary: graph.metadata))
        #expect(try XMLGraphFormat.write(again) == written)
    }

    @Test func applesEscapesAreUndone() throws {
        let url = try #require(Corpus.xmlStores.first { $0.lastPathComponent == "Folio.paw" })
        let graph = try XMLRowStore.contents(at: url)
        let addresses = graph.objects.filter { $0.entity == "LMREQUEST" }.compactMap {
            if case .text(let text) = $0[attribute: "url"] { text } else { nil }
        }
        #expect(addresses.contains { $0.contains(#""&client_secret=""#) })
        #expect(addresses.contains { $0.contains(#"\/artwork\/<artwork>"#) })
        for address in addresses where address.hasPrefix("[") {
            #expect((try? JSONSerialization.jsonObject(with: Data(address.utf8))) != nil)
        }
    }
}
