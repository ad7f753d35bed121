//! Handlers of one path, and their descriptions, which are made when somebody asks for them.

use axum::routing::MethodRouter;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::state::AppState;

/// Makes the descriptions of handlers.
pub(super) type Describe = fn() -> UtoipaMethodRouter<AppState>;

/// Routes on one path, and whether they accept tokens that are limited to experiences.
pub(in crate::admin) struct Declared {
    pub(super) path: String,
    pub(super) methods: MethodRouter<AppState>,
    pub(super) describe: Describe,
    pub(super) bounded: bool,
}

impl Declared {
    /// Routes of [`routes!`] that refuse limited tokens.
    pub(in crate::admin) fn new(
        path: String,
        methods: MethodRouter<AppState>,
        describe: Describe,
    ) -> Self {
        Self {
            path,
            methods,
            describe,
            bounded: false,
        }
    }
}

/// Routes that also accept limited tokens: they show and change only resources within the caller's
/// reach. For limited tokens, all other routes do not exist.
pub(in crate::admin) fn bounded(routes: Declared) -> Declared {
    Declared {
        bounded: true,
        ..routes
    }
}

/// Collects handlers of one path, like the macro of `utoipa_axum` with this name. That one describes
/// each handler at once: with all schemas, this takes longer than the rest of a start.
macro_rules! routes {
    ($($first:ident)::+ $(, $($more:ident)::+)* $(,)?) => {{
        let methods = axum::routing::MethodRouter::new();
        let methods = routes!(@on methods, $($first)::+);
        $(let methods = routes!(@on methods, $($more)::+);)*
        $crate::admin::routes::Declared::new(
            utoipa_axum::routes!(@path [path()] of $($first)::+),
            methods,
            || utoipa_axum::routes!($($first)::+ $(, $($more)::+)*),
        )
    }};
    (@on $methods:ident, $($handler:ident)::+) => {
        utoipa_axum::routes!(@path [methods()] of $($handler)::+)
            .iter()
            .fold($methods, |methods, method| {
                let method = utoipa_axum::PathItemExt::to_method_filter(method);
                methods.on(method, $($handler)::+)
            })
    };
}
pub(in crate::admin) use routes;
