import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct ModelCacheTests {
    @Test func aNewStoreKeepsItsModel() throws {
        let scratch = try Scratch()
        let url = scratch.url("store.sqlite")
        let model = TestModel.society()
        let fixture = try StoreFixture(model, url: url)
        let kept = try #require(try SQLiteRowStore.cachedModel(at: url))
        #expect(kept.entityVersionHashesByName == model.entityVersionHashesByName)
        try fixture.store.write {
            _ = try $0.connection.run("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00010203'")
        }
        let error = #expect(throws: StoreError.self) { try SQLiteRowStore.cachedModel(at: url) }
        #expect(error?.code == .corrupt)
        try fixture.store.write { _ = try $0.connection.run("DELETE FROM Z_MODELCACHE") }
        #expect(try SQLiteRowStore.cachedModel(at: url) == nil)
    }

    @Test(
        .enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"), arguments: Corpus.pairs)
    func realStoresKeepTheModelTheyWereMadeWith(pair: Corpus.Pair) throws {
        let scratch = try Scratch()
        let url = try Corpus.copy(pair.store, to: scratch)
        guard let kept = try SQLiteRowStore.cachedModel(at: url) else {
            let framework =
                try SQLiteRowStore.metadata(at: url)["NSPersistenceFrameworkVersion"] as? Int
            #expect(try #require(framework) <= 519)
            return
        }
        #expect(
            kept.entityVersionHashesByName == (try Corpus.model(pair)).entityVersionHashesByName)
    }
}
