import Platform
import Testing

/// A closure that is set, exchanged and called.
@Suite struct HandlerTests {
    /// A service looks at its handlers with each connection and each half second, for months.
    @Test func noNumberOfCallsMakesACallDeeper() throws {
        let depths = Lock<[Int]>([])
        let handler = Handler<Int, any Error> { _ in depths.withLock { $0.append(StackDepth.now) } }
        for number in 0..<10_000 { try handler(number) }
        let found = depths.withLock { $0 }
        #expect(found.count == 10_000)
        #expect(found.last == found.first)
    }

    @Test func itIsCalledWithWhatItIsGivenAndThrowsWhatItThrows() {
        struct Refusal: Error, Equatable { let number: Int }
        let handler = Handler<Int, Refusal> { number throws(Refusal) in
            if number > 2 { throw Refusal(number: number) }
        }
        #expect(throws: Never.self) { try handler(2) }
        #expect(throws: Refusal(number: 3)) { try handler(3) }
    }

    @Test func theLastOneThatWasSetIsCalled() {
        let heard = Lock<[String]>([])
        let handler = Handler<Void, Never>()
        handler()
        handler.set { heard.withLock { $0.append("first") } }
        handler.set { heard.withLock { $0.append("second") } }
        handler()
        handler.set(nil)
        handler()
        #expect(heard.withLock { $0 } == ["second"])
    }

    @Test func oneMayExchangeItselfWhileItIsCalled() {
        let count = Lock(0)
        let handler = Handler<Void, Never>()
        handler.set { [weak handler] in
            count.withLock { $0 += 1 }
            handler?.set(nil)
        }
        handler()
        handler()
        #expect(count.withLock { $0 } == 1)
    }

    @Test func whatAFormerOneHeldIsLetGo() {
        final class Held: Sendable {}
        let handler = Handler<Void, Never>()
        weak var held: Held?
        do {
            let mine = Held()
            held = mine
            handler.set { _ = mine }
        }
        #expect(held != nil)
        handler.set(nil)
        #expect(held == nil)
    }
}
