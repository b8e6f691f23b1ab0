import Foundation
import Testing

import class Predicates.NSExpression

@testable import Predicates

/// Formats with the arguments of C functions, and selectors by name.
@Suite struct ArgumentListTests {
    private func made(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
        withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    }

    @Test func eachPlaceholderTakesItsArgument() {
        let date = Date(timeIntervalSinceReferenceDate: 3)
        #expect(
            made("%K == %d AND %K == %@ AND x > %f AND y == %ld", "a", Int32(-5), "b", "it", 1.5, 7)
                == NSPredicate(format: "a == -5 AND b == 'it' AND x > 1.5 AND y == 7"))
        #expect(
            made("a IN %@ AND b == %i AND c == %u AND d == %@", [1, 2], -4, UInt32.max, date)
                == NSPredicate(
                    format: "a IN {1, 2} AND b == -4 AND c == 4294967295 AND d == %@", date))
        #expect(
            made("a == %lld OR b == %qu", Int64.min, UInt64(1) << 40).description
                == "a == -9223372036854775808 OR b == 1099511627776")
    }

    @Test func cStringsAreRead() {
        "c text".withCString { text in
            #expect(made("a == %s", OpaquePointer(text)).description == "a == \"c text\"")
        }
    }

    @Test func manyArgumentsGoOverTheStack() {
        let format = Array(repeating: "a == %ld AND b == %f", count: 12).joined(separator: " AND ")
        let arguments: [any CVarArg] = (0..<12).flatMap { [$0, Double($0)] as [any CVarArg] }
        let predicate = withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
        #expect(predicate == NSPredicate(format: format, argumentArray: arguments))
    }

    @Test func placeholdersInQuotesTakeNothing() {
        #expect(made("a == '%@' AND b == %@", "x") == NSPredicate(format: "a == '%@' AND b == 'x'"))
    }

    @Test func expressionsTakeThemToo() {
        let expression = withVaList(["a", 2]) { NSExpression(format: "%K + %ld", arguments: $0) }
        #expect(expression.description == "a + 2")
    }

    @Test func aRegisteredSelectorAnswersComparisonsAndFunctions() throws {
        NSExpression.register(selector: "isAfterInTests:") { receiver, arguments in
            (receiver as? Int ?? 0) > (arguments[0] as? Int ?? 0)
        }
        #expect(NSPredicate(format: "a isAfterInTests: 3").evaluate(with: ["a": 4]))
        #expect(!NSPredicate(format: "a isAfterInTests: 3").evaluate(with: ["a": 2]))
        #expect(!NSPredicate(format: "a nobodyKnows: 3").evaluate(with: ["a": 4]))
        let call = NSExpression(format: "FUNCTION(a, 'plus:times:', 2, 3)")
        NSExpression.register(selector: "plus:times:") { receiver, arguments in
            ((receiver as? Int ?? 0) + (arguments[0] as? Int ?? 0)) * (arguments[1] as? Int ?? 0)
        }
        #expect(call.expressionValue(with: ["a": 4], context: nil) as? Int == 18)
    }
}
