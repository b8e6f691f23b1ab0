@_exported public import ObjectModel
@_exported public import Persistence
@_exported public import Predicates
