public import Foundation
internal import ObjectModel
internal import Predicates
internal import RecordService
internal import RecordWire
internal import SQLiteDriver
internal import Stores

/// A reader of bytes that strangers may have made. The fuzzer feeds it, and so does the test that
/// replays what the fuzzer found.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// The XML of an `.xcdatamodel`.
    case model
    /// The `elements` of a model of Xcode 3.
    case elements
    /// A compiled model, or one in the packed form that stores keep.
    case archive
    /// Property lists, binary and XML.
    case plist
    case xmlstore
    case binarystore
    case sqlitestore
    /// The text of a predicate.
    case predicate
    /// Bodies of requests to a record service.
    case request
    /// Whole requests of HTTP: heads, and bodies as they travel.
    case head
    /// Tokens, and keys in addresses.
    case token
    /// Keys and tokens of a provider of OpenID Connect.
    case webkeys
    /// The text of `.ckdb` files.
    case schema
    /// A body of the wire with archived records.
    case records
    /// Answers of a record service, as a device reads them.
    case answer
    /// Pages of names that a store of objects answers.
    case listing

    /// What a reader made of bytes.
    public enum Verdict: Sendable, Equatable {
        /// It read them.
        case read
        /// It said what is wrong with them.
        case refused(String)
        /// It broke one of its promises.
        case broken(String)
    }

    /// Reads `data` as a program would, and uses what was read.
    public func feed(_ data: Data) -> Verdict {
        do {
            switch self {
            case .model: try ModelTarget.source(data)
            case .elements: try ModelTarget.elements(data)
            case .archive: try ModelTarget.archive(data)
            case .plist: try PropertyListTarget.read(data)
            case .xmlstore: try GraphTarget.xml(data)
            case .binarystore: try GraphTarget.binary(data)
            case .sqlitestore: try SQLiteTarget.open(data)
            case .predicate: try PredicateTarget.parse(data)
            case .request: try RequestTarget.ask(data)
            case .head: try HeadTarget.send(data)
            case .token: try TokenTarget.show(data)
            case .webkeys: try WebKeysTarget.believe(data)
            case .schema: try SchemaTarget.read(data)
            case .records: try RecordsTarget.read(data)
            case .answer: try AnswerTarget.read(data)
            case .listing: try ListingTarget.read(data)
            }
            return .read
        } catch let broken as BrokenPromise {
            return .broken(broken.description)
        } catch let error as RecordError where error.code == .internalError {
            return .broken("the service failed: \(error.reason)")
        } catch let error where Self.isTyped(error) {
            let text = "\(error)"
            return text.isEmpty
                ? .broken("an error of \(type(of: error)) says nothing") : .refused(text)
        } catch {
            return .broken("an error of no domain of ours: \(type(of: error)): \(error)")
        }
    }

    private static func isTyped(_ error: any Error) -> Bool {
        error is StoreError || error is ModelFileError || error is ModelConsistencyError
            || error is PredicateFormatError || error is SQLiteFault || error is EvaluationError
            || error is RecordError || error is ObjectStoreFailure
    }
}

/// A reader took bytes, yet what it made of them contradicts itself.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}
